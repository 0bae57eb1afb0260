// Am I in step? Who is here? And the other parts of the first view.

import { deviceName, state, when } from '/agent.js';
import { showDecisions } from '/decisions.js';
import { find, h, keep, put, sentence, table, time } from '/elements.js';
import { showFeed } from '/feed.js';
import { drawMesh } from '/mesh.js';
import { showTransfers } from '/transfers.js';
import { number, shown } from '/words.js';

export function showHome() {
    when(['status', 'why', 'devices', 'peers'], showStep);
    when(['peers', 'status', 'devices', 'versions'], showPeers);
    showDecisions();
    showTransfers();
    showFeed();
}

// Am I in step?

const space = () => state.status.spaces[0];

const linkWords = {
    discovery: 'Others are seen', address: 'An address is known', dial: 'It answers', handshake: 'It proves who it is',
    pairing: 'It is paired', session: 'A session is up', vector: 'Both hold the same', bytes: 'Attachments arrive',
    clock: 'Clocks agree', store: 'The disk takes writes',
};

const brokenWords = {
    discovery: 'no other device is seen', address: 'no address is known', dial: 'it does not answer',
    handshake: 'it does not prove who it is', pairing: 'it is not paired', session: 'no session is up',
    vector: 'not both hold the same', bytes: 'attachments do not arrive', clock: 'clocks do not agree',
    store: 'the disk does not take writes',
};

/** The links that lead to another device, each through those before it. */
const pathWords = ['discovery', 'address', 'dial', 'handshake', 'pairing', 'session', 'vector'];

/** True for a link behind a broken one: what holds for others says nothing of the device behind it. */
const isBehind = (link, broken) => broken !== undefined && pathWords.includes(broken.link)
    && pathWords.indexOf(link.link) > pathWords.indexOf(broken.link);

/** The name of the device whose address a finding gives; `This device` has none. */
function deviceAt(detail) {
    const found = (state.peers ?? []).find((peer) => peer.id && peer.address && detail.split(/[\s,]/).includes(peer.address));
    return found ? shown(deviceName(found.id)) : null;
}

/** What is broken, at which device, and when it was tried. */
function brokenLink(broken, why) {
    const name = deviceAt(broken.detail);
    const last = [...why.errors].sort((one, other) => Date.parse(other.time) - Date.parse(one.time))[0];
    const isTried = last !== undefined && ['dial', 'handshake', 'session'].includes(broken.link);
    return h('p', {}, h('strong', {}, 'Broken link: '), name ? `${name}: ` : '',
        h('span', { class: 'bad' }, brokenWords[broken.link] ?? broken.link), '. ', capital(shown(broken.detail)),
        isTried ? ['. Last tried ', time(last.time)]
            : broken.since ? [', ', time(broken.since, 'since')] : '', '.');
}

const capital = (text) => text.replace(/^[a-z]/, (letter) => letter.toUpperCase());

function showStep() {
    if (!state.status || !state.why) return;
    const { why } = state;
    const broken = why.chain.find((link) => !link.ok);
    const words = shown(space().sentence);
    const element = find('sentence');
    if (element.textContent !== words) element.textContent = words;
    element.dataset.state = space().inStep ? (broken ? 'partly' : 'good') : 'bad';
    document.title = `${space().inStep ? '' : '• '}${words.split(/[;.]/)[0]} – ${shown(state.status.device.name)}`;
    // A device that was revoked has no standings either, but it is not pairing that it waits for.
    const isRevoked = state.status.warnings.some((each) => each.code === 'revoked');
    const isAlone = space().standings.length === 0 && !isRevoked;
    const cause = [];
    if (isAlone && broken?.link === 'pairing') {
        cause.push(h('p', {}, 'To have everything on a second device, install Lanyard there. Then pair the two:'),
            h('p', {}, h('a', { href: '#/devices' }, 'Pair a device'), sentence(' in this page, and type `lanyard pair` on the other one.')));
    } else if (broken) {
        cause.push(brokenLink(broken, why));
        if (why.nextAttempt) cause.push(h('p', { id: 'next' }, 'The agent tries again by itself ', time(why.nextAttempt, 'until'), '.'));
        if (why.hint) cause.push(h('p', { class: 'hint' }, sentence(why.hint)));
    }
    put(find('cause'), ...cause);
    // Without another device there is no link to it.
    const links = isAlone ? why.chain.filter((link) => ['clock', 'store'].includes(link.link)) : why.chain;
    put(find('chain'), ...links.map((link) => {
        const found = !link.ok ? 'bad' : isBehind(link, broken) ? 'unknown' : 'good';
        return h('li', { 'data-state': found, title: shown(link.detail) },
            h('span', { class: 'unseen' }, { good: 'Yes: ', bad: 'No: ', unknown: 'Not known: ' }[found]), linkWords[link.link] ?? link.link);
    }));
}

// Who is here?

/** The words for how far a peer is: `level`, or what either side lacks. */
export function lag(peer) {
    const found = space().standings.find((each) => each.id === peer.id);
    const them = found?.unsent ?? peer.behind.them;
    const parts = [];
    if (peer.behind.us) parts.push(`${number(peer.behind.us)} to come`);
    if (them) parts.push(`${number(them)} to send`);
    if (parts.length > 0) return parts.join(', ');
    if (found?.state === 'inStep') return 'in step';
    return peer.state === 'connected' ? 'comparing' : 'not known';
}

export const peerState = (peer) => {
    if (!peer.paired) return 'not paired';
    const member = state.devices?.find((each) => each.id === peer.id)?.state;
    if (member === 'blocked' || member === 'revoked') return member;
    if (peer.state === 'connected') return 'connected';
    // The sentence above says the same word, also while the agent dials or mDNS still announces the device.
    const isAway = space().standings.find((each) => each.id === peer.id)?.awaySince;
    return peer.state === 'offline' || isAway ? 'away' : { connecting: 'connecting', discovered: 'seen, no session' }[peer.state];
};

export const rtt = (peer) => (peer.rttMilliseconds === null ? '' : `${peer.rttMilliseconds < 10
    ? peer.rttMilliseconds.toFixed(1) : Math.round(peer.rttMilliseconds)} ms`);

const vias = { mdns: 'found by mDNS', static: 'typed', lastKnown: 'met there before' };

function showPeers() {
    if (!state.status || !state.peers || !state.devices) return;
    const peers = state.peers.filter((peer) => peer.id !== state.status.device.id);
    find('mesh').hidden = peers.length === 0;
    if (peers.length > 0) drawMesh(find('mesh'), state.status.device, peers);
    if (peers.length === 0) {
        put(find('peers'), h('p', { class: 'quiet' }, 'Only this device. ', h('a', { href: '#/devices' }, 'Pair a device'), '.'));
        return;
    }
    const rows = peers.map((peer) => ({
        key: peer.id ?? peer.address,
        cells: [
            h('span', { class: 'dot', 'data-state': peerState(peer) }, peer.id ? shown(deviceName(peer.id)) : shown(peer.name || peer.address)),
            peerState(peer),
            peer.paired ? lag(peer) : '',
            rtt(peer),
            peer.state === 'connected' ? 'now' : peer.lastSync || peer.id ? time(peer.lastSync ?? state.devices.find((each) => each.id === peer.id)?.lastSeen) : '',
            peer.address ? h('span', { title: vias[peer.via] ?? '' }, shown(peer.address)) : '',
        ],
    }));
    const holder = find('peers');
    // The frame of the table stays, so that a reader who is in it does not lose the place.
    const next = table('The other devices', ['Device', 'Now', 'Changes', 'Round trip', 'Last heard', 'Address'], rows);
    const body = holder.querySelector('tbody');
    if (!body) return put(holder, next);
    keep(body, Array.from(next.querySelectorAll('tbody tr'), (row) => ({
        key: row.dataset.key, signature: row.innerText || row.textContent, make: () => row })));
    return undefined;
}
