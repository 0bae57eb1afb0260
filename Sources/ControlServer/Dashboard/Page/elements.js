// Elements of the page. Whatever comes from elsewhere is put in as text, and never read as HTML.

import { age, exact, moment, shown, until } from '/words.js';

/**
 * Makes an element. Attributes that are functions are listeners, those that are true stand without a value, and those that are
 * null or false are left out. Children are elements or texts.
 */
export function h(name, attributes = {}, ...children) {
    return fill(document.createElement(name), attributes, children);
}

const SVG = 'http://www.w3.org/2000/svg';

/** The same for a part of a drawing. */
export function svg(name, attributes = {}, ...children) {
    return fill(document.createElementNS(SVG, name), attributes, children);
}

function fill(element, attributes, children) {
    for (const [key, value] of Object.entries(attributes)) {
        if (value === null || value === undefined || value === false) continue;
        if (typeof value === 'function') element.addEventListener(key, value);
        else element.setAttribute(key, value === true ? '' : value);
    }
    element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
    return element;
}

export const find = (id) => document.getElementById(id);

/** Replaces what an element holds, unless it looks the same already: a selection in it stays. */
export function put(parent, ...children) {
    const next = fill(parent.cloneNode(false), {}, children);
    if (!parent.isEqualNode(next)) parent.replaceChildren(...next.childNodes);
    return parent;
}

/**
 * Shows items in their order. An item whose signature is the same keeps its element, so that focus and what a person has typed
 * stay when another item changes.
 *
 * @param {{key: string, signature: string, make: () => Element}[]} items
 */
export function keep(parent, items) {
    const known = new Map(Array.from(parent.children, (child) => [child.dataset.key, child]));
    const wanted = items.map(({ key, signature, make }) => {
        const old = known.get(key);
        if (old && old.dataset.signature === signature) return old;
        const element = make();
        element.dataset.key = key;
        element.dataset.signature = signature;
        return element;
    });
    const stays = new Set(wanted);
    for (const child of Array.from(parent.children)) if (!stays.has(child)) child.remove();
    wanted.forEach((element, index) => {
        if (parent.children[index] !== element) parent.insertBefore(element, parent.children[index] ?? null);
    });
}

const forms = { age, until, since: (text) => `since ${moment(text)}`, moment };

/** A time that goes on: its words are made anew as it passes. */
export function time(text, form = 'age') {
    if (!text) return h('span', {}, 'never');
    const element = h('time', { datetime: text, title: exact(text), 'data-form': form }, forms[form](text));
    return element;
}

setInterval(() => {
    if (document.hidden) return;
    for (const element of document.querySelectorAll('time[data-form]')) {
        const words = forms[element.dataset.form](element.dateTime);
        if (element.textContent !== words) element.textContent = words;
    }
}, 1000);

/** A sentence in which `commands` stand between back quotes. */
export function sentence(text) {
    return text.split('`').map((part, index) => (index % 2 ? h('code', {}, part) : part));
}

/** Why something was not done, and what to do. */
export const explain = (error) => sentence(error.hint ? `${shown(error.message)} ${shown(error.hint)}` : shown(error.message));

/** A button whose work may take a while, and may fail: then it says why, beside it. */
export function button(label, work, attributes = {}) {
    const fault = h('span', { class: 'fault', role: 'alert' });
    const element = h('button', {
        type: 'button', ...attributes,
        click: async () => {
            element.disabled = true;
            fault.textContent = '';
            try {
                await work();
            } catch (error) {
                put(fault, ...explain(error));
            } finally {
                element.disabled = false;
            }
        },
    }, label);
    return [element, fault];
}

/** Asks a person, and returns true for a yes. */
export function ask(title, text, verb) {
    const dialog = find('question');
    find('question-title').textContent = title;
    find('question-text').textContent = text;
    find('question-yes').textContent = verb;
    dialog.returnValue = 'no';
    dialog.showModal();
    return new Promise((resolve) => {
        dialog.addEventListener('close', () => resolve(dialog.returnValue === 'yes'), { once: true });
    });
}

/** Says something to people who do not see the page. */
export function say(text) {
    find('said').textContent = text;
}

/** A table whose rows become cards where there is little room: each cell knows its column's name. */
export function table(label, columns, rows) {
    const head = h('tr', {}, columns.map((column) => h('th', { scope: 'col' }, column)));
    const body = rows.map(({ key, cells }) => h('tr', { 'data-key': key ?? null }, cells.map((cell, index) => (
        h(index === 0 ? 'th' : 'td', { scope: index === 0 ? 'row' : null, 'data-label': columns[index] }, cell)))));
    return h('table', { 'aria-label': label }, h('thead', {}, head), h('tbody', {}, body));
}
