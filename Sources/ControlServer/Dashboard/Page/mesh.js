// The mesh as this device sees it: itself in the middle, a link to each other one.

import { deviceName, state } from '/agent.js';
import { put, svg } from '/elements.js';
import { lag, peerState, rtt } from '/home.js';
import { count, shorten, shown } from '/words.js';

/** More are counted, and stand in the table. */
const MOST = 40;

let width = 0;
let again = null;

new ResizeObserver((entries) => {
    const next = Math.round(entries[0].contentRect.width);
    if (Math.abs(next - width) < 8) return;
    width = next;
    again?.();
}).observe(document.getElementById('mesh'));

const kind = (peer) => {
    if (!peer.paired) return 'stranger';
    if (peerState(peer) === 'blocked') return 'blocked';
    if (peer.state !== 'connected') return 'away';
    return lag(peer) === 'in step' ? 'level' : 'behind';
};

export function drawMesh(holder, own, peers) {
    again = () => drawMesh(holder, own, peers);
    if (width === 0) width = Math.round(holder.getBoundingClientRect().width);
    const space = Math.max(280, width || 640);
    const shownPeers = peers.slice(0, MOST);
    const many = shownPeers.length > 12;
    // One ring, or two where one would be too tight.
    const height = peers.length < 3 ? 150 : Math.round(Math.min(many ? 460 : 320, Math.max(240, space * 0.62)));
    const [x, y] = [space / 2, height / 2];
    const links = [];
    const nodes = [];
    shownPeers.forEach((peer, index) => {
        const ring = many ? (index % 2 === 0 ? 1 : 0.62) : 1;
        const angle = (index / shownPeers.length) * 2 * Math.PI - (shownPeers.length === 2 ? Math.PI : Math.PI / 2)
            + (shownPeers.length > 2 && shownPeers.length % 2 === 0 ? Math.PI / shownPeers.length : 0);
        const [px, py] = [x + Math.cos(angle) * (space / 2 - 64) * ring, y + Math.sin(angle) * (height / 2 - 52) * ring];
        const state = kind(peer);
        links.push(svg('line', { x1: x, y1: y, x2: px, y2: py, class: `link ${state}` }));
        const about = [words(peer, state), rtt(peer)].filter(Boolean).join(', ');
        // The words stand on the far side of the link.
        const isAbove = py < y - 20;
        const [nameAt, stateAt] = many ? [isAbove ? -14 : 22, 0] : isAbove ? [-37, -22] : [30, 45];
        nodes.push(svg('g', { class: `node ${state}` },
            svg('circle', { cx: px, cy: py, r: many ? 9 : 14 }),
            ...mark(state, px, py, many),
            svg('text', { x: px, y: py + nameAt, class: 'name' }, shorten(nameOf(peer), many ? 10 : 16)),
            many ? null : svg('text', { x: px, y: py + stateAt, class: 'state' }, about),
            svg('title', {}, `${nameOf(peer)}: ${peerState(peer)}, ${about}`)));
    });
    const middle = svg('g', { class: 'node own' },
        svg('circle', { cx: x, cy: y, r: 19 }),
        svg('text', { x, y: y + 36, class: 'name' }, shorten(shown(own.name), 18)),
        svg('text', { x, y: y + 51, class: 'state' }, 'this device'));
    const connected = peers.filter((peer) => peer.state === 'connected').length;
    const picture = svg('svg', {
        viewBox: `0 0 ${space} ${height}`, role: 'img',
        'aria-label': `The devices as a picture: ${connected} of ${count(peers.length, 'other device')} connected. `
            + 'The table beside it says the same.',
    }, ...links, middle, ...nodes);
    put(holder, picture);
    if (peers.length > MOST) holder.append(`and ${count(peers.length - MOST, 'more device')}`);
}

const nameOf = (peer) => (peer.id ? shown(deviceName(peer.id)) : shown(peer.name || peer.address || '?'));

function words(peer, kind) {
    if (kind === 'stranger') return 'not paired';
    if (kind === 'blocked') return 'blocked';
    if (kind !== 'away') return lag(peer);
    const found = state.status.spaces[0].standings.find((each) => each.id === peer.id);
    return found?.unsent ? `away, ${lag(peer)}` : peerState(peer);
}

/** A sign in each node, so that its colour is not all that tells. */
function mark(kind, x, y, isSmall) {
    const size = isSmall ? 4 : 6;
    const line = (points) => svg('polyline', { points: points.map(([dx, dy]) => `${x + dx * size},${y + dy * size}`).join(' '), class: 'mark' });
    switch (kind) {
    case 'level': return [line([[-0.8, 0], [-0.2, 0.7], [0.9, -0.7]])];
    case 'behind': return [line([[0, -0.9], [0, 0.8]]), line([[-0.6, 0.2], [0, 0.8], [0.6, 0.2]])];
    case 'away': return [line([[-0.8, 0], [0.8, 0]])];
    case 'blocked': return [line([[-0.7, -0.7], [0.7, 0.7]]), line([[-0.7, 0.7], [0.7, -0.7]])];
    default: return [svg('text', { x, y: y + 4, class: 'mark-text' }, '?')];
    }
}
