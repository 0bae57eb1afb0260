// One object: as it is, as it was at each version, who wrote what, and its attachments.

import { deviceName, exactly, page, path, state } from '/agent.js';
import { attachment, calmly } from '/contents.js';
import { h, put, time } from '/elements.js';
import { show as showValue, summary } from '/values.js';
import { count, number, shown, shownText } from '/words.js';

/** Steps of a history that are read; of a longer one those that came first. */
const LONGEST = 10000;
/** Versions that are listed, and steps of one. */
const LISTED = 100;
const AUTHORS = 8;

export function openObject(body, collection, id) {
    const base = path('collections', collection, 'objects', id);
    const stop = new AbortController();
    const view = { steps: [], versions: [], at: null, blamed: null };
    const now = h('div', {});
    const files = h('section', { class: 'gallery', 'aria-label': 'Attachments' });
    const slider = h('input', { type: 'range', min: 0, max: 0, value: 0, step: 1, id: 'version', 'aria-describedby': 'version-words' });
    const words = h('output', { id: 'version-words', for: 'version' });
    const past = h('div', { class: 'past', hidden: true }, h('label', { for: 'version' }, 'Version'), slider, words);
    const steps = h('ol', { class: 'steps' });
    const blame = h('div', { id: 'blame', 'aria-live': 'polite' });
    put(body, h('div', { class: 'columns wide' },
        h('section', { 'aria-labelledby': 'object-title' }, h('h2', { id: 'object-title' }, `${shown(collection)}/${shown(id)}`), past, now, blame, files),
        h('section', { 'aria-labelledby': 'history-title' }, h('h2', { id: 'history-title' }, 'How it came to be'), steps)));

    async function readObject() {
        const version = view.at === null ? null : view.versions[view.at].version;
        try {
            const object = await exactly(base + (version ? `?at=${encodeURIComponent(version)}` : ''), stop.signal);
            if ((view.at === null ? null : view.versions[view.at]?.version) !== version) return;
            drawFields(object, version);
        } catch (error) {
            if (error.name === 'AbortError') return;
            put(now, h('p', { class: 'fault', role: 'status' }, error.message));
            if (view.at === null) files.replaceChildren();
        }
    }

    /** Of several values one is shown: a reader should know that there are others. */
    function conflictNote(version) {
        const isOpen = !version && (state.conflicts ?? []).some((each) => each.collection === collection && each.id === id);
        return isOpen ? [h('p', { class: 'note' }, 'It has a conflict: ', h('a', { href: '#/' }, 'decide it under “What needs me?”'), '.')] : [];
    }

    function drawFields(object, version) {
        const touched = new Set(version ? view.versions[view.at].steps.map((step) => String(step.field).split('.')[0]) : []);
        const entries = Object.entries(object.fields);
        put(now, ...conflictNote(version), entries.length === 0 ? h('p', { class: 'quiet' }, 'It has no fields.') : h('dl', { class: 'object' },
            entries.flatMap(([key, value]) => [
                h('dt', { class: touched.has(key) ? 'touched' : null }, shown(key), ' ', h('button', {
                    type: 'button', class: 'small', 'data-blame': key, 'aria-label': `Who wrote ${shown(key)}?` }, 'Who wrote this?')),
                h('dd', { class: touched.has(key) ? 'touched' : null }, showValue(value)),
            ])));
        if (view.at === null) files.replaceChildren(...(object.attachments ?? []).map(attachment));
        if (view.blamed) drawBlame(view.blamed);
    }

    async function readHistory() {
        let after = null;
        let found = [];
        do {
            const { entries, next } = await page(`${base}/history?limit=1000${after === null ? '' : `&after=${encodeURIComponent(after)}`}`, stop.signal);
            found = found.concat(entries);
            after = next;
        } while (after !== null && found.length < LONGEST);
        view.steps = found;
        view.versions = [];
        for (const step of found) {
            const last = view.versions[view.versions.length - 1];
            if (last?.version === step.version) last.steps.push(step);
            else view.versions.push({ version: step.version, steps: [step] });
        }
        const isAtEnd = view.at === null;
        slider.max = Math.max(0, view.versions.length - 1);
        if (isAtEnd) slider.value = slider.max;
        past.hidden = view.versions.length < 2;
        drawVersion();
        drawSteps();
    }

    function drawVersion() {
        const index = view.at ?? view.versions.length - 1;
        const version = view.versions[index];
        if (!version) return;
        const step = version.steps[0];
        put(words, view.at === null ? 'now, ' : '', `${number(index + 1)} of ${number(view.versions.length)}: by ${shown(deviceName(step.device))} `, time(step.time));
        slider.setAttribute('aria-valuetext', words.textContent);
    }

    function drawSteps() {
        const newest = view.versions.slice(-LISTED).reverse();
        steps.replaceChildren(...newest.map((version) => h('li', {},
            h('p', { class: 'quiet' }, h('strong', {}, shown(deviceName(version.steps[0].device))), ' ', time(version.steps[0].time)),
            ...version.steps.slice(0, LISTED).map((step) => h('p', { 'data-kind': step.kind }, ...stepWords(step))))));
        if (view.versions.length > LISTED) {
            steps.append(h('li', { class: 'quiet' }, `and ${count(view.versions.length - LISTED, 'earlier version')}: the slider leads there.`));
        }
    }

    async function drawBlame(field) {
        view.blamed = field;
        const version = view.at === null ? null : view.versions[view.at].version;
        try {
            const { entries } = await page(`${base}/blame?limit=500&field=${encodeURIComponent(field)}${version ? `&at=${encodeURIComponent(version)}` : ''}`, stop.signal);
            put(blame, h('h3', {}, `Who wrote ${shown(field)}`), blamed(entries));
        } catch (error) {
            if (error.name !== 'AbortError') put(blame, h('p', { class: 'fault' }, error.message));
        }
    }

    now.addEventListener('click', (event) => {
        const field = event.target.closest('[data-blame]')?.dataset.blame;
        if (field !== undefined) drawBlame(field);
    });
    let waiting = null;
    slider.addEventListener('input', () => {
        const index = Number(slider.value);
        view.at = index >= view.versions.length - 1 ? null : index;
        drawVersion();
        clearTimeout(waiting);
        waiting = setTimeout(readObject, 60);
    });
    const readAll = () => Promise.all([readObject(), readHistory()]).catch((error) => {
        if (error.name !== 'AbortError') put(steps, h('li', { class: 'fault' }, error.message));
    });
    readAll();
    const again = calmly(readAll, 500);
    let transfers = '';
    return {
        close: () => stop.abort(),
        changed: (changes) => { if (changes.some((each) => each.collection === collection && each.id === id)) again(); },
        decided: again,
        // Bytes of an attachment came, or come.
        moved: () => {
            const next = JSON.stringify([state.status.transfers, state.status.spaces[0].incomplete]);
            if (next !== transfers && files.querySelector('[data-state=missing], [data-state=partial]')) again();
            transfers = next;
        },
    };
}

function stepWords(step) {
    const field = h('strong', {}, shown(step.field ?? ''));
    switch (step.kind) {
    case 'created': return step.field === null ? ['Created'] : ['Created with ', field, ' ', to(step)];
    case 'edited': return [field, ' ', to(step)];
    case 'deleted': return ['Deleted'];
    case 'kept': return ['Kept, against a deletion'];
    case 'attached': return ['Attached ', h('strong', {}, shown(step.attachment?.name ?? ''))];
    case 'detached': return ['Took off ', h('strong', {}, shown(step.attachment?.name ?? ''))];
    case 'begins': return step.field === null ? ['Earlier history is not kept here'] : ['Earlier history is not kept here; ', field, ' was ', to(step)];
    default: return [shown(step.kind), ' ', field];
    }
}

function to(step) {
    if (step.edits) {
        return h('span', {}, step.edits.slice(0, 5).flatMap((edit) => [
            edit.deleted ? h('del', {}, summary(edit.deleted, 80)) : '', edit.inserted ? h('ins', {}, summary(edit.inserted, 120)) : '', ' ']),
        step.edits.length > 5 ? `and ${step.edits.length - 5} more edits` : '');
    }
    return h('span', {}, 'old' in step ? [h('del', {}, summary(step.old, 80)), ' → '] : '', 'new' in step ? h('ins', {}, summary(step.new, 120)) : h('i', {}, 'nothing'));
}

/** Parts by author. Each author has a colour and a number, so that the colour is not all that tells. */
function blamed(entries) {
    const authors = [...new Set(entries.map((entry) => entry.device))];
    const legend = h('ul', { class: 'legend' }, authors.map((id, index) => h('li', { class: `author-${index % AUTHORS}` }, `${index + 1} ${shown(deviceName(id))}`)));
    const title = (entry) => `${deviceName(entry.device)}${entry.time ? `, ${new Date(entry.time).toLocaleString()}` : ''}`;
    const isText = entries.every((entry) => entry.text !== undefined);
    const mark = (entry, contents) => h('span', {
        class: `author-${authors.indexOf(entry.device) % AUTHORS}`, title: title(entry) }, contents, h('sup', {}, String(authors.indexOf(entry.device) + 1)));
    return h('div', {}, legend, isText
        ? h('p', { class: 'value text' }, entries.map((entry) => mark(entry, shownText(entry.text))))
        : h('ul', {}, entries.map((entry) => h('li', {}, entry.field ? `${shown(entry.field)}: ` : '',
            mark(entry, summary(entry.text ?? entry.value, 200)), ' ', entry.time ? time(entry.time) : ''))));
}
