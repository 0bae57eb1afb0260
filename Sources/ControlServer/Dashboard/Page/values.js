// Values of fields: read exactly, and shown.

import { h } from '/elements.js';
import { shorten, shown, shownText } from '/words.js';

/** A number that JavaScript would round or write otherwise. */
class ExactNumber {
    constructor(source) { this.source = source; }
    toJSON() { return JSON.rawJSON ? JSON.rawJSON(this.source) : Number(this.source); }
    toString() { return this.source; }
}

/** Reads JSON. A number that would not be written as it came is kept as it came. */
export function parse(text) {
    return JSON.parse(text, (key, value, context) => (
        typeof value === 'number' && context?.source && String(value) !== context.source
            ? new ExactNumber(context.source) : value));
}

const isPlain = (value) => value !== null && typeof value === 'object' && !(value instanceof ExactNumber);

/** A value as one line. */
export function summary(value, length = 80) {
    if (typeof value === 'string') return shorten(shown(shorten(value, length)), length);
    // Only the beginning of a large value is written.
    if (Array.isArray(value)) {
        const parts = value.slice(0, 12).map((each) => summary(each, 24));
        return shorten(`[${parts.join(', ')}${value.length > 12 ? ', …' : ''}]`, length);
    }
    if (isPlain(value)) {
        const parts = Object.entries(value).slice(0, 8).map(([key, each]) => `${shown(key)}: ${summary(each, 24)}`);
        return shorten(`{${parts.join(', ')}}`, length);
    }
    return String(value);
}

const LONGEST = 20000;
const MOST = 200;

/** A value as an element. Long ones are shown in part, with a way to see all. */
export function show(value, depth = 0) {
    if (typeof value === 'string') return showText(value);
    if (Array.isArray(value)) {
        if (value.length === 0) return h('span', { class: 'value none' }, 'empty list');
        return folded(depth, `list of ${value.length}`, () => h('ol', { class: 'value', start: 0 }, [
            ...value.slice(0, MOST).map((each) => h('li', {}, show(each, depth + 1))),
            ...more(value.length)]));
    }
    if (isPlain(value)) {
        const entries = Object.entries(value);
        if (entries.length === 0) return h('span', { class: 'value none' }, 'empty object');
        return folded(depth, `object of ${entries.length}`, () => h('dl', { class: 'value' }, [
            ...entries.slice(0, MOST).flatMap(([key, each]) => [h('dt', {}, shown(key)), h('dd', {}, show(each, depth + 1))]),
            ...more(entries.length)]));
    }
    return h('span', { class: `value ${value === null ? 'none' : typeof value}` }, String(value));
}

const more = (length) => (length > MOST ? [h('li', { class: 'none' }, `and ${length - MOST} more`)] : []);

/** Below the second level a value is made when it is opened. */
function folded(depth, label, make) {
    if (depth < 2) return make();
    const details = h('details', { toggle: () => { if (details.open && details.children.length === 1) details.append(make()); } },
        h('summary', {}, label));
    return details;
}

function showText(text) {
    if (text === '') return h('span', { class: 'value none' }, 'empty text');
    const box = h('span', { class: 'value text' }, shownText(text.slice(0, LONGEST)));
    if (text.length > LONGEST) {
        const whole = h('button', { type: 'button', click: () => { box.textContent = shownText(text); } }, 'Show all of it');
        return h('span', {}, box, '… ', whole);
    }
    return box;
}
