// What just happened? Changes by device and object, arrivals of attachments, devices that come and go.

import { deviceName, get, path, state, when } from '/agent.js';
import { find, h, keep, time } from '/elements.js';
import { count, number, shown } from '/words.js';

const MOST = 120;
/** Changes of one device to one collection within this time are one line. */
const TOGETHER = 60000;

let items = [];
let planned = false;
let lastKey = 0;

function add(item) {
    lastKey += 1;
    items.push({ key: String(lastKey), ...item });
    items.sort((one, other) => other.at - one.at);
    items = items.slice(0, MOST);
    plan();
}

function plan() {
    if (planned) return;
    planned = true;
    requestAnimationFrame(() => {
        planned = false;
        show();
    });
}

const link = (collection, id) => h('a', {
    href: `#/contents/object/${encodeURIComponent(collection)}/${encodeURIComponent(id)}` }, `${shown(collection)}/${shown(id)}`);

function show() {
    keep(find('feed'), items.map((item) => ({
        key: item.key, signature: item.signature(),
        make: () => h('li', { 'data-kind': item.kind }, h('span', {}, item.words()), time(new Date(item.at).toISOString())),
    })));
    find('feed').classList.toggle('empty', items.length === 0);
}

// Objects

let lastPosition = null;

function takeChanges() {
    for (const change of state.changes) {
        // Of many at once only the newest are told.
        const isGap = change.position > (lastPosition ?? 0) + 1;
        lastPosition = change.position;
        const at = Date.parse(change.time);
        const found = items.find((item) => item.kind === 'change' && item.device === change.device
            && item.collection === change.collection && item.deleted === change.deleted && Math.abs(item.at - at) < TOGETHER);
        if (found) {
            found.objects.delete(change.id);
            found.objects.add(change.id);
            found.isMore ||= isGap && found.objects.size > 3;
            found.at = Math.max(found.at, at);
            items.sort((one, other) => other.at - one.at);
            plan();
            continue;
        }
        add(changeItem(change, at, isGap));
    }
}

function changeItem(change, at, isMore) {
    const item = {
        kind: 'change', at, device: change.device, collection: change.collection, deleted: change.deleted, isMore, objects: new Set([change.id]) };
    item.signature = () => `${nameOf(item.device)} ${item.deleted} ${item.at} ${[...item.objects].slice(-3).join('/')} ${item.objects.size}`;
    item.words = () => {
        const newest = [...item.objects].slice(-3).reverse();
        const what = item.objects.size <= 3
            ? newest.flatMap((id, index) => [index > 0 ? ', ' : '', link(item.collection, id)])
            : [`${item.isMore ? `${number(item.objects.size)} or more objects` : count(item.objects.size, 'object')} in ${shown(item.collection)}, the newest `, link(item.collection, newest[0])];
        return h('span', {}, h('strong', {}, nameOf(item.device)), item.deleted ? ' deleted ' : ' changed ', ...what);
    };
    return item;
}

const nameOf = (id) => (id === state.status?.device.id ? 'This device' : shown(deviceName(id)));
const nameWithin = (id) => (id === state.status?.device.id ? 'this device' : shown(deviceName(id)));

/** A line that does not change, except that a device's name may become known. Its words are elements made anew at each call. */
function tell(kind, words, at = Date.now()) {
    add({ kind, at, signature: () => words().textContent, words });
}

/** The parts of a line: texts, and functions that make an element. An element itself would leave the line that shows it. */
const plain = (...parts) => () => h('span', {}, ...parts.map((part) => (typeof part === 'function' ? part() : part)));
const strong = (text) => () => h('strong', {}, text);
const name = (id) => () => h('strong', {}, nameOf(id));

// Devices

const known = new Map();
const peers = new Map();

function takeDevices() {
    const isFirst = known.size === 0;
    for (const device of state.devices) {
        const before = known.get(device.id);
        known.set(device.id, device.state);
        if (before === undefined && device.addedAt) {
            tell('device', plain(name(device.id), ' was let in by ', () => h('strong', {}, nameWithin(device.addedBy))), Date.parse(device.addedAt));
        }
        if (isFirst || before === undefined || before === device.state) continue;
        const words = { retired: ' was retired', blocked: ' is blocked on this device', revoked: ' was revoked' };
        if (words[device.state]) tell('device', plain(name(device.id), words[device.state]));
        else if (words[before]) tell('device', plain(name(device.id), before === 'blocked' ? ' is not blocked any more' : ' is back'));
    }
}

function takePeers() {
    const isFirst = peers.size === 0;
    const seen = new Set();
    for (const peer of state.peers) {
        const key = peer.id ?? peer.address;
        seen.add(key);
        const before = peers.get(key);
        peers.set(key, { isUp: peer.state === 'connected', words: peer.id ? null : peer.name });
        if (isFirst) continue;
        if (!peer.paired && !peer.id && before === undefined) {
            tell('peer', plain(shown(peer.name || peer.address), ' is seen, and not paired'));
        } else if (peer.id && (before?.isUp ?? false) !== (peer.state === 'connected')) {
            tell('peer', plain(name(peer.id), peer.state === 'connected' ? ' is connected' : ' is away'));
        }
    }
    for (const [key, { words }] of peers) {
        if (seen.has(key)) continue;
        peers.delete(key);
        if (words) tell('peer', plain(shown(words), ' is not seen any more'));
    }
}

// Attachments and events: a number says that there is something to ask for.

let figures = null;
let arriving = new Map();
let conflicts = null;

async function takeStatus() {
    const space = state.status.spaces[0];
    const before = figures;
    figures = { attachments: space.attachments, events: space.events, incomplete: space.incomplete };
    const now = new Map(state.status.transfers.map((transfer) => [transfer.hash, transfer]));
    for (const [hash, transfer] of arriving) {
        if (!now.has(hash) && before && space.incomplete < before.incomplete) {
            const title = shown(transfer.name ?? hash.slice(0, 8));
            tell('bytes', plain(strong(title), ' has arrived'));
        }
    }
    arriving = now;
    if (!before) return;
    if (space.attachments > before.attachments) await tellAttachments(Math.min(5, space.attachments - before.attachments));
    if (space.events > before.events) await tellEvents();
}

async function tellAttachments(limit) {
    for (const entry of await get(`${path('attachments')}?limit=${limit}`)) {
        const owner = entry.owner.indexOf('/');
        tell('bytes', plain(strong(shown(entry.name || entry.id)), ' was attached to ',
            () => link(entry.owner.slice(0, owner), entry.owner.slice(owner + 1))));
    }
}

let streams = null;

async function tellEvents() {
    const before = streams;
    streams = new Map((await get(path('streams'))).map((stream) => [stream.name, stream]));
    if (!before) return;
    for (const [stream, { events, lastEvent }] of streams) {
        const more = events - (before.get(stream)?.events ?? 0);
        if (more <= 0) continue;
        const at = lastEvent ? Date.parse(lastEvent) : Date.now();
        tell('event', plain(`${count(more, 'event')} in `, () => h('a', { href: `#/contents/stream/${encodeURIComponent(stream)}` }, shown(stream))), at);
    }
}

function takeConflicts() {
    const now = new Set(state.conflicts.map((each) => JSON.stringify([each.collection, each.id, each.field, each.kind])));
    for (const conflict of state.conflicts) {
        const key = JSON.stringify([conflict.collection, conflict.id, conflict.field, conflict.kind]);
        if (!conflicts || conflicts.has(key) || !conflict.id) continue;
        tell('conflict', plain('A conflict in ', () => link(conflict.collection, conflict.id), conflict.field ? `, field ${shown(conflict.field)}` : ''));
    }
    conflicts = now;
}

export function showFeed() {
    when(['changes'], takeChanges);
    when(['devices'], takeDevices);
    when(['peers'], takePeers);
    when(['conflicts'], takeConflicts);
    when(['status'], () => { takeStatus().catch(() => {}); });
    when(['devices'], plan);
    // What streams there are now is known before the first event comes.
    when(['connection'], async () => { if (!streams) streams = new Map((await get(path('streams'))).map((each) => [each.name, each])); });
}
