// Pairing by digits: each screen shows six, and asks for those of the other.

import { lines, send } from '/agent.js';
import { explain, h, put, sentence, time } from '/elements.js';
import { shown } from '/words.js';

const vias = { mdns: 'found by mDNS', address: 'at the address given', incoming: 'it called' };

/** The part of the page that pairs. It is over when it is closed: the agent hears that the request ended. */
export function pairing() {
    const body = h('div', { 'aria-live': 'polite' });
    const element = h('section', { class: 'pairing', 'aria-labelledby': 'pair-title' }, h('h2', { id: 'pair-title' }, 'Pair a device'), body);
    let stop = null;

    function rest(...words) {
        stop = null;
        const place = h('input', { id: 'pair-place', autocomplete: 'off', spellcheck: 'false', placeholder: '192.168.1.20:21817' });
        body.replaceChildren(...words, h('p', {}, h('button', { type: 'button', id: 'pair', class: 'main', click: () => begin() }, 'Pair a device')),
            h('p', { class: 'hint' }, sentence('On the other device type `lanyard pair`, or open its page and press the same button.')),
            h('details', {}, h('summary', {}, 'It is not found by itself?'),
                h('form', { submit: (event) => { event.preventDefault(); if (place.value.trim()) begin(place.value.trim()); } },
                    h('label', { for: 'pair-place' }, 'Its name or address'), place, h('button', { type: 'submit' }, 'Pair there'))));
    }

    const cancel = () => h('button', { type: 'button', click: () => { stop?.abort(); rest(); } }, 'Cancel');

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
            put(body, h('p', {}, sentence('Waiting for the other device. Type `lanyard pair` there, or open its page and press the same button.')),
                h('p', { class: 'quiet' }, 'It ends by itself ', time(expires, 'until'), '.'), cancel());
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
                event.role ? `, and may ${event.role === 'reader' ? 'read' : 'read and write'}` : '', '.'));
            return true;
        case 'failed':
            rest(h('p', { class: 'fault', id: 'pair-failed' }, shown(event.message), ' ', sentence(shown(event.hint ?? ''))));
            return true;
        default: return false;
        }
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
        const words = ready.length === 0 ? 'No other device pairs right now.'
            : ready.length === 1 ? 'This device pairs right now:' : 'Several devices pair right now. Which one is yours?';
        const about = (device) => h('span', { class: 'quiet' }, [
            device.shortID, vias[device.via] ?? device.via, device.address, device.isMember ? 'a member already' : ''].filter(Boolean).map(shown).join(', '));
        put(body, h('p', {}, words), h('ul', { class: 'choices' }, ready.map((device) => h('li', {}, h('button', {
            type: 'button', 'data-device': device.id, click: choose(device) }, h('strong', {}, shown(device.name || device.shortID)), ' ', about(device))))),
        others.length > 0 ? h('p', { class: 'quiet' }, 'Seen on the network, and not pairing yet: ',
            others.map((device) => shown(device.name || device.address)).join(', '), '.') : '',
        fault, expires ? h('p', { class: 'quiet' }, 'It ends by itself ', time(expires, 'until'), '.') : '', cancel());
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
        }, h('label', { for: 'digits' }, `Type the six digits that ${name} shows`), h('p', {}, digits, ' ', enter), fault);
        put(body, h('p', {}, `Type these digits on ${name}`, peer.shortID ? ` (${shown(peer.shortID)})` : '', ':'),
            h('p', { class: 'digits', id: 'own-digits', 'aria-label': Array.from(code).join(' ') }, `${code.slice(0, 3)} ${code.slice(3)}`),
            form, expires ? h('p', { class: 'quiet' }, 'It ends by itself ', time(expires, 'until'), '.') : '', cancel());
        digits.focus();
    }

    function drawConfirmed() {
        const form = body.querySelector('form');
        const words = h('p', { class: 'good', id: 'confirmed' }, 'Those are right. Waiting until this screen’s digits are typed on the other device…');
        if (form) form.replaceWith(words);
        else put(body, words, cancel());
    }

    rest();
    return { element, close: () => stop?.abort() };
}
