// The agent as this page knows it: requests, and what changes.

import { parse } from '/values.js';

/** An answer that says why something was not done. */
export class Refusal extends Error {
    constructor(status, error = {}) {
        super(error.message ?? `The agent answered with status ${status}.`);
        this.status = status;
        this.code = error.code ?? '';
        this.hint = error.hint ?? '';
    }
}

async function request(method, path, { body, accept = 'application/json', signal } = {}) {
    const headers = { Accept: accept };
    if (method !== 'GET') headers['Lanyard-Dashboard'] = '1';
    if (body !== undefined) headers['Content-Type'] = 'application/json';
    let answer;
    try {
        answer = await fetch(path, { method, headers, body, signal, cache: 'no-store' });
    } catch (error) {
        if (error.name === 'AbortError') throw error;
        throw new Refusal(0, { message: 'The agent does not answer.', hint: 'Is it running?' });
    }
    if (answer.ok) return answer;
    if (answer.status === 401) leave('signed-out');
    let error = {};
    try { error = (await answer.json()).error; } catch { /* A refusal without content. */ }
    throw new Refusal(answer.status, error);
}

export const get = async (path, signal) => (await request('GET', path, { signal })).json();

/** Returns a page of a list, and the cursor of the next one; null behind the last. */
export async function page(path, signal) {
    const answer = await request('GET', path, { signal });
    const next = answer.headers.get('Lanyard-Next');
    return { entries: parse(await answer.text()), next: next === null ? null : decodeURIComponent(next) };
}

/** Returns a document whose numbers are kept as they are written. */
export const exactly = async (path, signal) => parse(await (await request('GET', path, { signal })).text());

export async function send(method, path, body) {
    return (await request(method, path, { body: body === undefined ? undefined : JSON.stringify(body) })).json();
}

/** Sends a request and calls `take` with each line of its answer, until it ends. */
export async function lines(method, path, body, take, signal) {
    const answer = await request(method, path, {
        body: body === undefined ? undefined : JSON.stringify(body), accept: 'application/x-ndjson', signal });
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = '';
    for (;;) {
        const { value, done } = await reader.read();
        if (done) break;
        const parts = (rest + value).split('\n');
        rest = parts.pop();
        for (const part of parts) if (part) take(JSON.parse(part));
    }
}

/** The path of something below a space: each part encoded. */
export const path = (...parts) => `/v1/spaces/home/${parts.map(encodeURIComponent).join('/')}`;

// What the agent tells by itself.

/** The parts that came last: status, why, peers, devices, versions, disk, conflicts, changes. */
export const state = {};
const listeners = [];

/** Calls `work` with what came, whenever one of `keys` did; several that come at once are one call. */
export function when(keys, work) {
    listeners.push({ keys, work, isDue: false });
}

let isPlanned = false;

function tell(key) {
    for (const listener of listeners) if (listener.keys.includes(key)) listener.isDue = true;
    if (isPlanned) return;
    isPlanned = true;
    queueMicrotask(() => {
        isPlanned = false;
        for (const listener of listeners) {
            if (!listener.isDue) continue;
            listener.isDue = false;
            listener.work();
        }
    });
}

/** `live`, `lost` (it is tried again), `asleep` (the page is not looked at) or `signed-out`. */
export let connection = 'new';
let source;
let sleeping;
let retrying;

function leave(next) {
    if (connection === 'signed-out') return;
    connection = next;
    if (next === 'signed-out') source?.close();
    tell('connection');
}

export function follow() {
    clearTimeout(retrying);
    source?.close();
    source = new EventSource('/v1/overview');
    source.onmessage = ({ data }) => {
        const part = JSON.parse(data);
        // The values of conflicts are sent back as they came.
        if (part.conflicts) part.conflicts = parse(data).conflicts;
        for (const [key, value] of Object.entries(part)) {
            state[key] = value;
            tell(key);
        }
        if (connection !== 'live') leave('live');
    };
    source.onerror = async () => {
        if (connection === 'asleep' || connection === 'signed-out') return;
        leave('lost');
        if (source.readyState !== EventSource.CLOSED) return;
        // The browser gave up, since the answer was none of a stream: it is known why, or tried again.
        try { await get('/v1/version'); } catch { /* It is said already. */ }
        if (connection !== 'signed-out') retrying = setTimeout(follow, 3000);
    };
}

// A page that is not looked at costs the agent nothing.
document.addEventListener('visibilitychange', () => {
    clearTimeout(sleeping);
    if (!document.hidden) {
        if (connection === 'asleep') follow();
        return;
    }
    sleeping = setTimeout(() => {
        if (connection === 'signed-out') return;
        leave('asleep');
        source?.close();
    }, 60000);
});

// Names of devices.

export const device = (id) => state.devices?.find((each) => each.id === id);

/** A device's name; with the beginning of its id where another one has the same name. */
export function deviceName(id) {
    const found = device(id);
    if (!found) return id ? id.slice(0, 7) : 'a device';
    const isAlone = state.devices.every((each) => each.id === id || each.name !== found.name);
    return !found.name ? id.slice(0, 7) : isAlone ? found.name : `${found.name} (${id.slice(0, 7)})`;
}
