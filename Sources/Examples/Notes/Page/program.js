// The connection to the program that serves this page: one stream of events to it, and requests.

/** The name of this page towards the program; another one after each load. */
export const page = crypto.randomUUID();

/** A refusal by the program, or "connection_lost" where it did not answer. */
export class ProgramError extends Error {
    constructor(code, message) {
        super(message);
        this.code = code;
    }
}

/**
 * Listens to the program for as long as the page is open. One stream carries everything, because a browser opens at most six
 * connections to a program.
 *
 * `handlers` has a function for each event, which is given its JSON. `onLost` is called when the stream breaks; it comes back by
 * itself, and begins with the event "hello".
 */
export function listen(handlers, onLost) {
    const source = new EventSource(`/events?id=${page}`);
    for (const [name, handle] of Object.entries(handlers)) {
        source.addEventListener(name, (event) => handle(JSON.parse(event.data)));
    }
    source.onerror = () => {
        onLost();
        if (source.readyState === EventSource.CLOSED) setTimeout(() => listen(handlers, onLost), 1_000);
    };
}

function address(path, query) {
    return query ? `${path}?${new URLSearchParams(query)}`.replaceAll("+", "%20") : path;
}

async function answer(request) {
    let response;
    try {
        response = await request;
    } catch {
        throw new ProgramError("connection_lost", "The program does not answer.");
    }
    const json = await response.json().catch(() => ({}));
    if (!response.ok) throw new ProgramError(json.code ?? "internal_fault", `${json.message ?? "It failed."} ${json.hint ?? ""}`);
    return json;
}

export const ask = (path, query) => answer(fetch(address(path, query)));

export function tell(path, query, json = {}) {
    const body = JSON.stringify(json);
    return answer(fetch(address(path, query), { method: "POST", headers: { "Content-Type": "application/json" }, body }));
}

export const upload = (path, query, file) => answer(fetch(address(path, query), { method: "POST", body: file }));
