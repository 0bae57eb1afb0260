// Pairing by digits: each screen shows six, and asks for those of the other.

import { lines, send } from '/agent.js';
import { explain, find, h, put, sentence, time } from '/elements.js';
import { rights, shown } from '/words.js';

/** What a person does at the other device, so that it pairs, too. */
const THERE = 'On the other device, type `lanyard pair`, or open its page and press “Pair a device” there, too.';

const vias = { mdns: 'found by mDNS', address: 'at the address given', incoming: 'it called' };

/** The part of the page that pairs. It is over when it is closed: the agent hears that the request ended. */
export function pairing() {
    const body = h('div', { 'aria-live': 'polite' });
    const element = h('section', { class: 'pairing', 'aria-labelledby': 'pair-title' }, h('h2', { id: 'pair-title' }, 'Pair a device'), body);
    let stop = null;
    /** The name of the device whose digits are asked for. */
    let other = 'the other device';

    function rest(...words) {
        stop = null;
        const place = h('input', { id: 'pair-place', autocomplete: 'off', spellcheck: 'false', placeholder: '192.168.1.20:21817' });
        body.replaceChildren(...words, h('p', {}, h('button', { type: 'button', id: 'pair', class: 'main', click: () => begin() }, 'Pair a device')),
            h('p', { class: 'hint' }, sentence(THERE)),
            h('details', {}, h('summary', {}, 'It is not found by itself?'),
                h('form', { submit: (event) => { event.preventDefault(); if (place.value.trim()) begin(place.value.trim()); } },
                    h('label', { for: 'pair-place' }, 'Its name or address'), place, h('button', { type: 'submit' }, 'Pair there'))));
    }

    const ending = (expires) => (expires ? h('p', { class: 'quiet' }, 'The pairing ends by itself ', time(expires, 'until'), '.') : '');
    const cancel = () => h('button', {
        type: 'button',
        click: () => {
            stop?.abort();
            rest(h('p', { id: 'pair-failed' }, 'Pairing was stopped on this device.'));
            find('pair').focus();
        },
    }, 'Cancel');

    /** @param {string} [device] a name, the beginning of an id, or HOST:PORT; any that pairs when left out */
    async function begin(device) {
        const own = new AbortController();
        stop = own;
        put(body, h('p', {}, 'One moment…'), cancel());
        let isOver = false;
        let expires = null;
        try {
            await lines('POST', '/v1/pairing', device ? { device } : {}, (event) => {
                if (own.signal.aborted) return;
                expires = event.expires ?? expires;
                // The form of every error, where the stream breaks.
                const line = event.error ? { event: 'failed', ...event.error } : event;
                isOver = handle(line, expires) || isOver;
            }, own.signal);
            if (!isOver && !own.signal.aborted) rest(h('p', { class: 'fault' }, 'The agent ended the pairing.'));
        } catch (error) {
            if (own.signal.aborted) return;
            rest(h('p', { class: 'fault' }, error.status === 404 ? 'This agent does not pair by digits.' : explain(error)));
        }
    }

    /** Returns true for the last event. */
    function handle(event, expires) {
        switch (event.event) {
        case 'waiting':
            put(body, h('p', {}, 'Waiting for the other device. ', ...sentence(THERE)),
                ending(expires), cancel());
            return false;
        case 'devices':
            drawDevices(event.devices, expires);
            return false;
        case 'code':
            drawCode(event, expires);
            return false;
        case 'confirmed':
            drawConfirmed();
            return false;
        case 'paired':
            rest(h('p', { class: 'good', id: 'paired' }, h('strong', {}, shown(event.name)), ' is paired with this device',
                event.role ? `, ${event.joined ? 'which' : 'and'} may ${rights(event.role)}` : '', '.'),
            h('p', {}, 'Each now gets what the other has. ', h('a', { href: '#/' }, 'Are they in step?')));
            return true;
        case 'failed':
            rest(h('p', { class: 'fault', id: 'pair-failed' }, shown(event.message)), h('p', {}, ...sentence(advice(event))));
            return true;
        default: return false;
        }
    }

    /** What to do about a failure. Where the agent's advice is a command, the page has a button. */
    function advice({ code, hint = '' }) {
        return code === 'wrong_code'
            ? 'For new digits, pair again on both devices. If they were typed right, another machine stands between the two: use another network.'
            : shown(hint);
    }

    function drawDevices(devices, expires) {
        const fault = h('p', { class: 'fault', role: 'alert' });
        const choose = (device) => async () => {
            try {
                await send('PUT', '/v1/pairing/device', { device: device.id ?? device.name });
            } catch (error) {
                put(fault, ...explain(error));
            }
        };
        const ready = devices.filter((device) => device.id);
        const others = devices.filter((device) => !device.id);
        const words = ready.length === 0 ? ['No other device pairs yet. ', ...sentence(THERE)]
            : ready.length === 1 ? 'This device pairs right now:' : 'Several devices pair right now. Which one is yours?';
        const about = (device) => h('span', { class: 'quiet' }, [
            device.shortID, vias[device.via] ?? device.via, device.address, device.isMember ? 'a member already' : ''].filter(Boolean).map(shown).join(', '));
        put(body, h('p', {}, words), ready.length === 0 ? '' : h('ul', { class: 'choices' }, ready.map((device) => h('li', {}, h('button', {
            type: 'button', 'data-device': device.id, click: choose(device) }, h('strong', {}, shown(device.name || device.shortID)), ' ', about(device))))),
        others.length > 0 ? h('p', { class: 'quiet' }, 'Seen on the network: ',
            others.map((device) => `${shown(device.name || device.address)} (${shown(vias[device.via] ?? device.via)})`).join(', '), '.') : '',
        fault, ending(expires), cancel());
    }

    function drawCode({ code, peer }, expires) {
        const name = shown(peer.name || peer.shortID || 'the other device');
        const fault = h('p', { class: 'fault', role: 'alert' });
        const digits = h('input', {
            id: 'digits', inputmode: 'numeric', autocomplete: 'one-time-code', pattern: '[0-9 ]*', maxlength: 7, size: 7, required: true });
        const enter = h('button', { type: 'submit', class: 'main' }, 'Compare');
        const form = h('form', {
            submit: async (event) => {
                event.preventDefault();
                const typed = digits.value.replace(/\D/g, '');
                if (typed.length !== 6) {
                    fault.textContent = 'The other screen shows six digits.';
                    return;
                }
                enter.disabled = true;
                fault.textContent = '';
                try {
                    await send('PUT', '/v1/pairing/code', { code: typed });
                } catch (error) {
                    put(fault, ...explain(error));
                } finally {
                    enter.disabled = false;
                }
            },
        }, h('label', { for: 'digits' }, h('strong', {}, 'Here'), `, type the six digits that ${name} shows:`),
        h('p', { class: 'buttons' }, digits, enter), fault);
        other = name;
        put(body, h('p', {}, h('strong', {}, `On ${name}`), peer.shortID ? ` (${shown(peer.shortID)})` : '', ', type these six digits:'),
            h('p', { class: 'digits', id: 'own-digits', 'aria-label': Array.from(code).join(' ') }, `${code.slice(0, 3)} ${code.slice(3)}`),
            form, ending(expires), cancel());
        digits.focus();
    }

    function drawConfirmed() {
        const form = body.querySelector('form');
        const words = h('p', { class: 'good', id: 'confirmed' }, `The digits of ${other} are right. Now type those above on ${other}, too.`);
        if (form) form.replaceWith(words);
        else put(body, words, cancel());
    }

    rest();
    return { element, close: () => stop?.abort() };
}
