// Undo for one person in a text that others type in, too: it takes back what this person did, and leaves what they did.
// The browser's own undo knows nothing of edits that come from elsewhere.

import { composed, inverted, toSplices, transformed } from "./text.js";

const maximumSteps = 200;
/** Letters that follow one another in the text, within this time in milliseconds, are one step. */
const pause = 800;

export class UndoSteps {
    constructor() {
        /** Edits that undo, each for the text that the ones behind it leave. */
        this.undos = [];
        this.redos = [];
        this.last = -Infinity;
        this.place = 0;
    }

    /** An edit by the person, made in `text`. */
    record(edit, text) {
        const inverse = inverted(edit, text);
        const now = performance.now();
        const { offset, deleted, inserted } = toSplices(edit)[0];
        const isNext = now - this.last < pause && (offset === this.place || offset + deleted === this.place);
        if (isNext && this.undos.length > 0) this.undos.push(composed(inverse, this.undos.pop()));
        else this.undos.push(inverse);
        if (this.undos.length > maximumSteps) this.undos.shift();
        this.redos = [];
        this.last = now;
        this.place = offset + inserted.length;
    }

    /** An edit by others. */
    move(edit) {
        this.undos = moved(this.undos, edit);
        this.redos = moved(this.redos, edit);
        this.last = -Infinity;
    }

    /** Returns the edit that undoes the last step, which is then one to do again; null for none. */
    undo(text) { return step(this, this.undos, this.redos, text); }

    redo(text) { return step(this, this.redos, this.undos, text); }
}

function step(steps, from, to, text) {
    steps.last = -Infinity;
    // What others deleted meanwhile leaves nothing to undo.
    while (from.length > 0) {
        const edit = from.pop();
        if (edit.length === 0) continue;
        to.push(inverted(edit, text));
        return edit;
    }
    return null;
}

function moved(steps, edit) {
    let rest = edit;
    const result = [];
    for (const one of steps.toReversed()) {
        const [next, further] = transformed(one, rest);
        result.unshift(next);
        rest = further;
    }
    return result;
}
