// Devices: by which device each was let in, when it was seen last, and what a person decides about it.

import { deviceName, send, path, state, when } from '/agent.js';
import { retire } from '/decisions.js';
import { ask, button, h, keep, say, time } from '/elements.js';
import { pairing } from '/pairing.js';
import { rights, shown } from '/words.js';

let list = null;

export function openDevices(holder) {
    list = h('div', { class: 'devices' });
    const pair = pairing();
    holder.replaceChildren(h('h1', {}, 'Devices'), pair.element, h('section', { 'aria-label': 'The devices of the space home' }, list));
    show();
    return () => {
        list = null;
        pair.close();
    };
}

when(['devices', 'versions', 'status'], show);

const words = {
    this: 'this device', connected: 'connected', offline: 'away', retired: 'retired', blocked: 'blocked here', revoked: 'revoked',
};

function show() {
    if (!list || !state.devices || !state.status) return;
    const versions = new Map((state.versions ?? []).map((each) => [each.id, each.version]));
    const order = ['this', 'connected', 'offline', 'blocked', 'retired', 'revoked'];
    const sorted = [...state.devices].sort((a, b) => order.indexOf(a.state) - order.indexOf(b.state) || a.name.localeCompare(b.name));
    keep(list, sorted.map((device) => ({
        key: device.id, signature: JSON.stringify([{ ...device, lastSeen: device.state === 'connected' ? null : device.lastSeen },
            versions.get(device.id), deviceName(device.addedBy), isAdmin()]),
        make: () => card(device, versions.get(device.id)),
    })));
}

function card(device, version) {
    const row = (label, ...value) => [h('dt', {}, label), h('dd', {}, ...value)];
    return h('article', { class: 'card device', 'data-state': device.state },
        h('h3', {}, h('span', { class: 'dot', 'data-state': words[device.state] ?? device.state }, shown(device.name || device.id.slice(0, 7))), ' ',
            h('span', { class: 'quiet' }, words[device.state] ?? shown(device.state))),
        h('dl', {},
            row('Short id', h('code', { title: device.id }, device.id.slice(0, 7))),
            device.state === 'revoked' ? [] : row('May', rights(device.role)),
            row('Let in', device.addedBy ? [`by ${shown(deviceName(device.addedBy))} `, time(device.addedAt)] : 'as the first device'),
            device.heard ? row('Known to', `${device.heard.length} of ${device.heard.length + device.waitingFor.length} devices`) : [],
            device.state === 'this' ? [] : row('Last heard', device.state === 'connected' ? 'now' : time(device.lastSeen)),
            version ? row('Version', shown(version)) : []),
        device.state === 'this' ? '' : h('p', { class: 'buttons' }, ...actions(device)));
}

/** Only admins revoke. */
function isAdmin() {
    return state.devices.some((each) => each.state === 'this' && each.role === 'admin');
}

function actions(device) {
    const name = shown(deviceName(device.id));
    if (device.state === 'blocked') {
        return button('Unblock', async () => {
            await send('DELETE', `${path('devices', device.id)}/block`);
            say(`${name} is not blocked any more.`);
        }, { 'aria-label': `Unblock ${name}` });
    }
    if (device.state === 'revoked') return [];
    const block = button('Block…', async () => {
        const others = state.devices.filter((each) => !['this', 'blocked', 'retired', 'revoked'].includes(each.state) && each.id !== device.id);
        const through = others.length > 0 ? ` What it writes can still come through ${others.map((each) => shown(deviceName(each.id))).join(', ')}.` : '';
        if (!await ask(`Block ${name}?`, `This device has nothing to do with it any more. A block holds here only: block it on the others, too.${through}`, 'Block')) return;
        await send('PUT', `${path('devices', device.id)}/block`);
        say(`${name} is blocked.`);
    }, { 'aria-label': `Block ${name}` });
    const letGo = device.state === 'retired' ? [] : button('Let it go…', () => retire(device.id), { 'aria-label': `Let ${name} go` });
    const revoke = !isAdmin() ? [] : button('Revoke…', async () => {
        const id = device.id.slice(0, 7);
        if (!await ask(`Revoke ${name} (${id})?`, 'For a device that is lost or was stolen. What has not come here of it counts nowhere, and no device has to do '
            + 'with it any more. What it already holds cannot be taken back from it.', 'Revoke')) return;
        await send('POST', `${path('devices', device.id)}/revocation`, {});
        say(`${name} is revoked.`);
    }, { 'aria-label': `Revoke ${name}` });
    return [...block, ...letGo, ...revoke];
}
