// A text that several people type in at once: the page's half of the protocol that deploy/HTTP.md describes.
//
// The agent puts all edits in one order and sends them as lines. This side shows its own edits before they have a place in that
// order, and keeps what it shows right while those of others come in between. One batch of own edits is on its way at a time.
// Offsets count UTF-16 code units, as JavaScript does.
//
// An edit of a whole text is a list of parts, from its beginning: a number n > 0 keeps n units, n < 0 deletes -n, a string is
// inserted. All behind the last part is kept. Splices, as they are sent, are steps: each one counts from what the ones
// before it left.

// MARK: Edits

// With their types: "1" > 0 holds in JavaScript.
const isInsertion = (part) => typeof part === "string";
const isDeletion = (part) => typeof part === "number" && part < 0;
const isKept = (part) => typeof part === "number" && part > 0;

function push(edit, part) {
    if (part === 0 || part === "") return;
    const last = edit.length - 1;
    if (isInsertion(part)) {
        if (isInsertion(edit[last])) edit[last] += part;
        // Insertions stand before the deletion at their place: one form for each edit.
        else if (isDeletion(edit[last])) {
            if (isInsertion(edit[last - 1])) edit[last - 1] += part;
            else edit.splice(last, 0, part);
        } else edit.push(part);
    } else if (isKept(part) ? isKept(edit[last]) : isDeletion(edit[last])) edit[last] += part;
    else edit.push(part);
}

function finished(edit) {
    if (isKept(edit[edit.length - 1])) edit.pop();
    return edit;
}

/** The parts of an edit, taken in pieces. Behind the last one everything is kept. */
class Parts {
    constructor(edit) {
        this.edit = edit;
        this.index = 0;
        this.used = 0;
    }

    get isAtEnd() { return this.index >= this.edit.length; }
    get isInsertion() { return isInsertion(this.edit[this.index]); }
    get isDeletion() { return isDeletion(this.edit[this.index]); }

    /** The units that the part still has. */
    get length() {
        if (this.isAtEnd) return Infinity;
        const part = this.edit[this.index];
        return (isInsertion(part) ? part.length : Math.abs(part)) - this.used;
    }

    take(count) {
        if (this.isAtEnd) return count;
        const part = this.edit[this.index];
        const piece = isInsertion(part) ? part.slice(this.used, this.used + count) : Math.sign(part) * count;
        if (count === this.length) {
            this.index += 1;
            this.used = 0;
        } else this.used += count;
        return piece;
    }
}

/** The edit that does `first`, then `second`. */
export function composed(first, second) {
    const [a, b, edit] = [new Parts(first), new Parts(second), []];
    while (!a.isAtEnd || !b.isAtEnd) {
        if (a.isDeletion) push(edit, a.take(a.length));
        else if (b.isInsertion) push(edit, b.take(b.length));
        else {
            const count = Math.min(a.length, b.length);
            const [inner, outer] = [a.take(count), b.take(count)];
            if (outer > 0) push(edit, inner);
            else if (!isInsertion(inner)) push(edit, -count);
        }
    }
    return finished(edit);
}

/**
 * Two edits of the same text, each as it is behind the other: `own` has no place in the order yet, `ordered` has.
 * Where both insert, the own text stands before the other; the agent decides alike.
 */
export function transformed(own, ordered) {
    const [a, b, ownAfter, orderedAfter] = [new Parts(own), new Parts(ordered), [], []];
    while (!a.isAtEnd || !b.isAtEnd) {
        if (a.isInsertion || b.isInsertion) {
            const [from, here, there] = a.isInsertion ? [a, ownAfter, orderedAfter] : [b, orderedAfter, ownAfter];
            const piece = from.take(from.length);
            push(here, piece);
            push(there, piece.length);
            continue;
        }
        const count = Math.min(a.length, b.length);
        const [mine, theirs] = [a.take(count), b.take(count)];
        if (mine > 0 && theirs > 0) {
            push(ownAfter, count);
            push(orderedAfter, count);
        } else if (theirs > 0) push(ownAfter, -count);
        else if (mine > 0) push(orderedAfter, -count);
    }
    return [finished(ownAfter), finished(orderedAfter)];
}

export function applied(edit, text) {
    let [place, result] = [0, ""];
    for (const part of edit) {
        if (isInsertion(part)) result += part;
        else {
            if (isKept(part)) result += text.slice(place, place + part);
            place += Math.abs(part);
        }
    }
    return result + text.slice(place);
}

/** The edit that undoes one, which was made in `text`. */
export function inverted(edit, text) {
    const inverse = [];
    let place = 0;
    for (const part of edit) {
        if (isInsertion(part)) push(inverse, -part.length);
        else {
            push(inverse, isKept(part) ? part : text.slice(place, place - part));
            place += Math.abs(part);
        }
    }
    return finished(inverse);
}

/** The place of a caret behind an edit: before what is inserted at its very place, or with `isAfter` behind that. */
export function shifted(offset, edit, isAfter = false) {
    let [place, result] = [0, offset];
    for (const part of edit) {
        if (place > offset || (place === offset && !isAfter)) break;
        if (isInsertion(part)) result += part.length;
        else {
            if (isDeletion(part)) result -= Math.min(-part, offset - place);
            place += Math.abs(part);
        }
    }
    return result;
}

export function fromSplices(splices) {
    return splices.reduce((edit, { offset, deleted, inserted }) => {
        const step = [];
        for (const part of [offset, inserted, -deleted]) push(step, part);
        return composed(edit, step);
    }, []);
}

export function toSplices(edit) {
    const splices = [];
    let [place, open] = [0, null];
    for (const part of edit) {
        if (isKept(part)) {
            place += part;
            open = null;
            continue;
        }
        if (!open) splices.push((open = { offset: place, deleted: 0, inserted: "" }));
        if (isInsertion(part)) {
            open.inserted += part;
            place += part.length;
        } else open.deleted -= part;
    }
    return splices;
}

const isHigh = (unit) => unit >= 0xd800 && unit < 0xdc00;
const isLow = (unit) => unit >= 0xdc00 && unit < 0xe000;

/**
 * The edit that makes `next` of `before`: all between what both begin and end with. With the caret as it is behind the edit, an "a"
 * typed among others is the one before the caret. No surrogate pair is torn.
 */
export function difference(before, next, caret = next.length) {
    let [start, end] = [0, 0];
    const shorter = Math.min(before.length, next.length);
    const isEqualAtEnd = () => before.charCodeAt(before.length - 1 - end) === next.charCodeAt(next.length - 1 - end);
    while (end < Math.min(shorter, next.length - caret) && isEqualAtEnd()) end += 1;
    while (start < shorter - end && before.charCodeAt(start) === next.charCodeAt(start)) start += 1;
    while (end < shorter - start && isEqualAtEnd()) end += 1;
    if (start > 0 && isHigh(before.charCodeAt(start - 1))) start -= 1;
    if (end > 0 && isLow(before.charCodeAt(before.length - end))) end -= 1;
    const edit = [];
    const inserted = next.slice(start, next.length - end);
    for (const part of [start, inserted, -(before.length - end - start)]) push(edit, part);
    return finished(edit);
}

// MARK: The text

/** A key under which an edit is done once, however often it is sent. */
function freshKey() {
    return Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * A text as this page shows it: what the agent has confirmed, then the batch that is on its way, then what was typed since.
 *
 * The owner gives it three functions: `send({version, edits, key})` takes a batch to the agent and has `answered` called;
 * `reopen()` has the lines begin anew with a whole text, and drops lines that were under way before; `show(edit)` is told
 * how the visible text changes through others. Lines go to `receive`, edits of the person at this page to `edit`.
 */
export class SharedText {
    constructor({ send, reopen, show }) {
        Object.assign(this, { send, reopen, show });
        this.confirmed = null;
        this.version = null;
        this.sent = null;
        this.pending = [];
        /** True while lines fit to `confirmed`; false until a whole text comes. */
        this.isFollowing = false;
        this.visible = "";
    }

    /** True if something that was typed is not confirmed yet. */
    get hasUnsaved() { return this.sent !== null || this.pending.length > 0; }

    /** An edit by the person at this page; it is shown already. */
    edit(edit) {
        if (edit.length === 0) return;
        this.pending = composed(this.pending, edit);
        this.visible = applied(edit, this.visible);
        this.#flush();
    }

    receive(line) {
        if (line.kind === "text") this.#begin(line);
        else if (this.isFollowing) {
            const edit = fromSplices(line.edits);
            if (this.sent && line.key === this.sent.batch.key) this.#confirm(edit);
            else this.#change(edit);
            this.confirmed = applied(edit, this.confirmed);
            this.version = line.version;
            this.#flush();
        }
    }

    /**
     * The answer to a batch: "applied", "unknown" (the agent does not know the version, and did nothing) or "lost" (no answer: it
     * may have been applied or not).
     */
    answered(key, answer) {
        if (!this.sent || key !== this.sent.batch.key) return;
        this.sent.answer = answer;
        if (answer === "unknown") this.isFollowing = false;
        if (!this.isFollowing && answer !== "lost") this.#decide();
    }

    /** The way to the agent is open again. A batch without an answer is sent once more, under its key, before all else. */
    reconnected() {
        this.isFollowing = false;
        if (!this.sent) this.reopen();
        else if (this.sent.answer === "lost") {
            this.sent.answer = null;
            this.send(this.sent.batch);
        } else if (this.sent.answer === "applied") this.#decide();
    }

    /** A whole text. Only one that is asked for when no batch is on its way says for sure whether it has the batch in it. */
    #begin({ text, version }) {
        if (this.sent) return this.reconnected();
        const edit = difference(this.confirmed ?? "", text);
        this.#change(edit);
        this.confirmed = text;
        this.version = version;
        this.isFollowing = true;
        this.#flush();
    }

    /** The batch was applied or it was not, and that is known now: the next whole text shows what came of it. */
    #decide() {
        const { edit, answer } = this.sent;
        this.sent = null;
        if (answer === "applied") this.confirmed = applied(edit, this.confirmed);
        else this.pending = composed(edit, this.pending);
        this.reopen();
    }

    /** The own batch has its place in the order. Should the agent have placed it elsewhere than we do, its word counts. */
    #confirm(edit) {
        const [expected, actual] = [applied(this.sent.edit, this.confirmed), applied(edit, this.confirmed)];
        this.sent = null;
        if (expected !== actual) this.#change(difference(expected, actual));
    }

    /** Another edit has its place behind `confirmed`, before what is ours. */
    #change(edit) {
        let foreign = edit;
        if (this.sent) [this.sent.edit, foreign] = transformed(this.sent.edit, foreign);
        [this.pending, foreign] = transformed(this.pending, foreign);
        if (foreign.length === 0) return;
        this.visible = applied(foreign, this.visible);
        this.show(foreign);
    }

    /** Sends at once what was typed, unless a batch is on its way. */
    #flush() {
        if (!this.isFollowing || this.sent || this.pending.length === 0) return;
        // Half of a surrogate pair, as a paste may have it, is no text to the agent: it would refuse the batch for ever.
        const edits = toSplices(this.pending).map((step) => ({ ...step, inserted: step.inserted.replace(/\p{Cs}/gu, "\ufffd") }));
        const batch = { version: this.version, edits, key: freshKey() };
        this.sent = { batch, edit: this.pending, answer: null };
        this.pending = [];
        this.send(batch);
    }
}
