// What is on its way? Changes by peer, and the bytes of attachments by piece.

import { deviceName, state, when } from '/agent.js';
import { find, h, keep } from '/elements.js';
import { bytes, count, length, number, shown } from '/words.js';

/** The bytes of a piece, which is hashed and fetched by itself. */
const PIECE = 256 * 1024;
const SAMPLES = 8;

/** What each peer lacked and had moved, when it was told: {at, us, them, moved}. */
const samples = new Map();

function sample() {
    const at = performance.now();
    const seen = new Set();
    for (const peer of state.peers) {
        if (!peer.id || peer.state !== 'connected') continue;
        seen.add(peer.id);
        const found = state.status?.spaces[0].standings.find((each) => each.id === peer.id);
        const list = samples.get(peer.id) ?? [];
        // In changes; `behind.them` counts operations, and a fall from one to the other would be no pace.
        list.push({ at, us: peer.behind.us ?? 0, them: found?.unsent ?? 0, moved: peer.bytesIn + peer.bytesOut });
        samples.set(peer.id, list.slice(-SAMPLES));
    }
    for (const id of samples.keys()) if (!seen.has(id)) samples.delete(id);
}

/** The figures of a peer for which something is on its way; null where nothing is. */
function figures(peer) {
    const list = samples.get(peer.id);
    if (!list) return null;
    const [first, last] = [list[0], list[list.length - 1]];
    if (last.us + last.them === 0) return null;
    const seconds = (last.at - first.at) / 1000;
    const rate = seconds < 0.3 ? 0 : Math.max(0, (first.us + first.them - last.us - last.them) / seconds);
    const moved = seconds < 0.3 ? 0 : Math.max(0, (last.moved - first.moved) / seconds);
    return { ...last, rate, moved, left: rate > 0 ? (last.us + last.them) / rate : null };
}

function peerItem(peer) {
    const now = figures(peer);
    if (!now) return null;
    const name = shown(deviceName(peer.id));
    const parts = [];
    if (now.us) parts.push(`${count(now.us, 'operation')} to come from ${name}`);
    if (now.them) parts.push(`${count(now.them, 'change')} to send to ${name}`);
    const pace = [];
    if (now.rate >= 1) pace.push(`${number(Math.round(now.rate))}/s`);
    if (now.moved >= 1024) pace.push(`${bytes(now.moved)}/s`);
    pace.push(now.left === null ? 'time left not known' : `${length(now.left)} left`);
    const text = `${parts.join(', ')}: ${pace.join(', ')}`;
    return { key: `peer ${peer.id}`, signature: text, make: () => h('p', { class: 'moving' }, text) };
}

function transferItem(transfer) {
    const { doneBytes, totalBytes, bytesPerSecond } = transfer.progress;
    const pieces = Math.max(1, Math.ceil(totalBytes / PIECE));
    const done = totalBytes === 0 ? pieces : Math.floor((doneBytes / totalBytes) * pieces);
    const left = bytesPerSecond > 0 ? `, ${length((totalBytes - doneBytes) / bytesPerSecond)} left` : ', waiting';
    const text = `${number(done)} of ${count(pieces, 'piece')}, ${bytes(doneBytes)} of ${bytes(totalBytes)}`
        + `${bytesPerSecond > 0 ? `, ${bytes(bytesPerSecond)}/s` : ''}${left}`;
    const name = shown(transfer.name ?? `${transfer.hash.slice(0, 8)}…`);
    return {
        key: `bytes ${transfer.hash}`, signature: name + text,
        make: () => h('div', { class: 'moving' }, h('p', {}, h('strong', {}, name), ` arrives: ${text}`),
            h('progress', { max: pieces, value: done, 'aria-label': name })),
    };
}

function show() {
    if (!state.status || !state.peers) return;
    const items = state.peers.map(peerItem).filter(Boolean).concat(state.status.transfers.map(transferItem));
    const missing = state.status.spaces[0].incomplete;
    const waiting = missing - state.status.transfers.length;
    if (waiting > 0) {
        const text = `${count(waiting, 'attachment')} that should be here ${waiting === 1 ? 'waits' : 'wait'} for a device that has ${waiting === 1 ? 'it' : 'them'}.`;
        items.push({ key: 'waiting', signature: text, make: () => h('p', { class: 'moving' }, text) });
    }
    if (items.length === 0) {
        const { standings } = state.status.spaces[0];
        const waiting = standings.filter((each) => !each.connected && each.unsent);
        const connected = state.peers.filter((peer) => peer.paired && peer.state === 'connected');
        const isCompared = (peer) => peer.behind.us !== null && (standings.find((each) => each.id === peer.id)?.state ?? 'inStep') === 'inStep';
        const text = waiting.length > 0
            ? `Nothing moves. Waiting: ${waiting.slice(0, 3).map((each) => `${count(each.unsent, 'change')} for ${shown(each.name)}`).join(', ')}`
                + `${waiting.length > 3 ? `, and for ${count(waiting.length - 3, 'more device')}` : ''}.`
            : connected.length > 0 && !connected.every(isCompared) ? 'Nothing moves yet: devices compare what they hold.'
            : connected.length > 0 ? 'Nothing: all that connected devices have is here, and all of this device is there.'
            : 'Nothing: no other device is connected.';
        items.push({ key: 'none', signature: text, make: () => h('p', { class: 'quiet' }, text) });
    }
    keep(find('transfers'), items);
}

export function showTransfers() {
    when(['peers'], sample);
    when(['peers', 'status'], show);
}
