// What needs me? Conflicts, devices to let go, a disk that fills, and what the agent warns of.

import { deviceName, send, path, state, when } from '/agent.js';
import { ask, button, find, h, keep, say, sentence, time } from '/elements.js';
import { bytes, count, shown } from '/words.js';
import { show as showValue, summary } from '/values.js';

/** The days without a session after which a person should say if a device comes back. */
const SILENT_DAYS = 30;
const LEAST_FREE = 1 << 30;

/** The key of the conflict that was decided here last, while its card is there. */
let decided = null;

export function showDecisions() {
    when(['conflicts', 'status', 'devices', 'disk'], show);
}

function show() {
    if (!state.status || !state.conflicts || !state.devices) return;
    const items = [...disk(), ...state.conflicts.map(conflict), ...silent(), ...state.status.warnings
        .filter((warning) => warning.code !== 'member_silent').map(warn)];
    find('needed').textContent = items.length > 99 ? '99+' : items.length > 0 ? String(items.length) : '';
    if (items.length === 0) {
        items.push({ key: 'none', signature: '', make: () => h('p', { class: 'quiet' }, 'Nothing. There is no conflict, and no warning.') });
    }
    keep(find('decisions'), items);
    // The card that was decided is gone, and the focus with it: a keyboard goes on from here, not from the top of the page.
    const isGone = decided !== null && !items.some((item) => item.key === decided);
    if (!isGone) return;
    decided = null;
    if (document.activeElement === document.body) find('needs-title').focus();
}

const card = (kind, title, ...parts) => h('article', { class: 'card', 'data-kind': kind }, h('h3', {}, title), ...parts);

const link = (collection, id) => h('a', {
    href: `#/contents/object/${encodeURIComponent(collection)}/${encodeURIComponent(id)}` }, `${shown(collection)}/${shown(id)}`);

// Conflicts

const keyOf = (entry) => JSON.stringify([entry.collection, entry.id, entry.field, entry.kind]);

function conflict(entry) {
    return {
        key: keyOf(entry),
        signature: JSON.stringify([entry, entry.authors.map((each) => deviceName(each.device))]),
        make: () => makers[entry.kind]?.(entry) ?? card('conflict', `A conflict in ${shown(entry.collection)}/${shown(entry.id)}`),
    };
}

const resolve = (entry, decision) => async () => {
    decided = keyOf(entry);
    const answer = await send('POST', `${path('collections', entry.collection, 'objects', entry.id)}/resolve`, decision);
    say(answer.resolved ? 'Resolved.' : 'It was resolved already.');
};

const by = (author) => [h('strong', {}, shown(deviceName(author.device))), ' ', time(author.time)];

/** All values side by side; each can be kept in place of all. */
function values(title, entry) {
    const options = entry.values.map((value, index) => h('li', {},
        h('p', { class: 'author' }, entry.authors[index] ? by(entry.authors[index]) : '', index === 0 ? h('em', {}, ', shown now') : ''),
        h('div', { class: 'side' }, showValue(value)),
        ...button('Keep this', resolve(entry, { field: entry.field, value }),
            { 'aria-label': `Keep ${summary(value, 40)}`, 'data-keep': String(index) })));
    return card('conflict', title, h('ul', { class: 'sides' }, options),
        h('p', { class: 'hint' }, 'Each was written without knowing of the others. What is kept here is kept on all devices.'));
}

const list = (authors, words) => authors.map((author) => h('p', {}, words(author), ' by ', ...by(author)));

const makers = {
    concurrentValues: (entry) => values([`“${shown(entry.field)}” of `, link(entry.collection, entry.id), ` has ${entry.values.length} values: which one?`], entry),
    types: (entry) => values([`“${shown(entry.field)}” of `, link(entry.collection, entry.id), ' was given several types'], entry),
    editedWhileDeleted: (entry) => card('conflict', ['Edits were dropped: ', link(entry.collection, entry.id), entry.deletions.length ? ' was deleted meanwhile' : ''],
        ...list(entry.authors, (author) => count(author.count, 'edit')), ...list(entry.deletions, () => 'Deleted'),
        h('p', { class: 'hint' }, 'The history of the object still has them.'),
        h('p', { class: 'buttons' }, ...button('I have seen it', resolve(entry, { decision: 'dismiss' })))),
    deletedWhileEdited: (entry) => card('conflict', [link(entry.collection, entry.id), ' was deleted here, and stays: other devices changed it'],
        ...list(entry.authors, () => 'Deleted'),
        h('p', { class: 'buttons' }, ...button('Leave it as it is', resolve(entry, { decision: 'dismiss' })))),
    undecided: (entry) => card('conflict', ['Keep or delete ', link(entry.collection, entry.id), '?'],
        ...list(entry.authors, () => 'Edited'), ...list(entry.deletions, () => 'Deleted'),
        h('p', { class: 'hint' }, 'Until then it is hidden on every device.'),
        h('p', { class: 'buttons' }, ...button('Keep it', resolve(entry, { decision: 'keep' })),
            ...button('Delete it', resolve(entry, { decision: 'delete' }), { class: 'danger' }))),
    schema: (entry) => card('conflict', `The schema of ${shown(entry.collection)} was set on several devices: ${shown(entry.field ?? '')}`,
        h('ul', { class: 'sides' }, entry.values.map((value, index) => h('li', {},
            h('p', { class: 'author' }, entry.authors[index] ? by(entry.authors[index]) : ''), h('div', { class: 'side' }, showValue(value))))),
        h('p', { class: 'hint' }, sentence('An application or a person sets it again: `lanyard schema set`'))),
};

// Devices

/** Retires a device after asking; for the view of devices, too. */
export async function retire(id) {
    const name = shown(deviceName(id));
    const isSure = await ask(`Let ${name} go?`,
        'No other device waits for it any more. If it comes back, it is admitted again, and what it wrote meanwhile is written again.',
        'Let it go');
    if (!isSure) return;
    await send('POST', `${path('devices', id)}/retirement`);
    say(`${name} was retired.`);
}

function silent() {
    const now = Date.now();
    return state.status.spaces[0].stable.heldBackBy
        .filter((member) => now - Date.parse(member.lastSeen ?? member.since) >= SILENT_DAYS * 86400000)
        .map((member) => ({
            key: `silent ${member.id}`, signature: JSON.stringify(member),
            make: () => card('device', `Does ${shown(member.name)} come back?`,
                h('p', {}, 'It was heard ', time(member.lastSeen), '. What is deleted and edited meanwhile is kept for it.'),
                h('p', { class: 'buttons' }, ...button('Let it go…', () => retire(member.id)))),
        }));
}

// This device

function disk() {
    const { disk } = state;
    if (!disk || disk.freeBytes > Math.min(LEAST_FREE, disk.totalBytes / 20)) return [];
    const words = `${bytes(disk.freeBytes)} of ${bytes(disk.totalBytes)} are free where the data is.`;
    return [{
        key: 'disk', signature: words,
        make: () => card('disk', 'The disk is filling', h('p', {}, words),
            h('p', { class: 'hint' }, sentence('Make room, or let the agent drop what is not needed: `lanyard compact`'))),
    }];
}

function warn(warning) {
    return {
        key: `warning ${warning.code} ${warning.message}`, signature: warning.hint,
        make: () => card('warning', shown(warning.message), h('p', { class: 'hint' }, sentence(shown(warning.hint)))),
    };
}
