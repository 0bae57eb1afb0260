// The text of the open note: a text area that several people type in, with the carets of the others over it.

import { SharedText, difference, shifted, toSplices } from "./text.js";
import { page, tell } from "./program.js";
import { UndoSteps } from "./undo.js";

/** Refusals that say that a batch does not fit to the text as it is: it is made anew, against the text that comes. */
const misfitCodes = new Set(["index_out_of_range", "inside_character", "invalid_argument", "idempotency_mismatch"]);
/** Refusals that say that there is nothing to edit any more. */
const goneCodes = new Set(["not_found", "object_deleted", "unknown_field", "type_mismatch"]);

const after = (milliseconds) => new Promise((go) => setTimeout(go, milliseconds));

/** A text area shows line feeds alone. The letters here keep their number, so that offsets stay what they are. */
const shownForm = (text) => (text.includes("\r") ? text.replace(/\r\n/g, "\u200b\n").replace(/\r/g, "\n") : text);

export class Editor {
    /** `onChange()` is called when what is saved may have changed, `onError(message)` when the note cannot be edited. */
    constructor({ area, mirror, carets, onChange, onError }) {
        Object.assign(this, { area, mirror, carets, onChange, onError });
        this.note = null;
        this.text = null;
        this.opening = 0;
        this.isConnected = false;
        /** Lines that came while a character is composed from several keys: until then the text area must not be touched. */
        this.waiting = [];
        this.isComposing = false;
        this.others = [];
        this.cursor = { name: "", start: 0, end: 0, isTyping: false };
        area.addEventListener("input", () => this.#takeInput());
        area.addEventListener("beforeinput", (event) => this.#undoByMenu(event));
        area.addEventListener("keydown", (event) => this.#undoByKey(event));
        area.addEventListener("compositionstart", () => { this.isComposing = true; });
        area.addEventListener("compositionend", () => this.#endComposing());
        document.addEventListener("selectionchange", () => this.#announce());
        area.addEventListener("blur", () => this.#announce());
        new ResizeObserver(() => this.#drawCarets()).observe(mirror);
    }

    // MARK: Opening and closing

    get hasUnsaved() { return this.text?.hasUnsaved ?? false; }

    /** Shows a note; null for none. What was typed in the note before must be saved by then. */
    open(note) {
        this.note = note;
        this.others = [];
        this.waiting = [];
        this.isComposing = false;
        this.area.value = this.shown = "";
        this.area.readOnly = true;
        this.cursor.isTyping = false;
        this.steps = new UndoSteps();
        this.text = note && new SharedText({
            send: (batch) => this.#send(note, batch),
            reopen: () => this.#reopen(),
            show: (edit) => this.#show(edit),
        });
        this.#mirrorText();
        if (note) this.#reopen();
        else tell("/show", null, { page, note: null }).catch(() => {});
    }

    /** The stream of events is there again. */
    reconnected() {
        this.isConnected = true;
        this.text?.reconnected();
        this.#announce(true);
    }

    disconnected() {
        this.isConnected = false;
        this.others = [];
        this.#drawCarets();
    }

    async #reopen() {
        if (!this.isConnected) return;
        this.opening += 1;
        const opening = this.opening;
        try {
            await tell("/show", null, { page, note: this.note, opening });
            this.#announce(true);
        } catch {
            await after(500);
            if (opening === this.opening && this.isConnected) this.#reopen();
        }
    }

    // MARK: Edits of the person at this page

    #takeInput() {
        if (this.isComposing || !this.text) return;
        const value = this.area.value;
        const edit = difference(this.shown, value, this.area.selectionEnd);
        if (edit.length === 0) return;
        this.steps.record(edit, this.text.visible);
        this.#takeEdit(edit);
    }

    #takeEdit(edit) {
        this.shown = this.area.value;
        this.others = this.others.map((other) => moved(other, edit, false));
        this.text.edit(edit);
        this.#mirrorText();
        this.cursor.isTyping = true;
        clearTimeout(this.typingEnd);
        this.typingEnd = setTimeout(() => {
            this.cursor.isTyping = false;
            this.#announce(true);
        }, 3_000);
        this.#announce(true);
        this.onChange();
    }

    #endComposing() {
        this.isComposing = false;
        this.#takeInput();
        for (const line of this.waiting.splice(0)) this.text?.receive(line);
        this.onChange();
    }

    // MARK: Undo

    #undoByKey(event) {
        if (!(event.ctrlKey || event.metaKey) || event.altKey || event.isComposing) return;
        const key = event.key.toLowerCase();
        if (key !== "z" && key !== "y") return;
        event.preventDefault();
        this.#undo(key === "y" || event.shiftKey);
    }

    #undoByMenu(event) {
        if (event.inputType !== "historyUndo" && event.inputType !== "historyRedo") return;
        event.preventDefault();
        this.#undo(event.inputType === "historyRedo");
    }

    #undo(isRedo) {
        if (!this.text || this.area.readOnly) return;
        const edit = isRedo ? this.steps.redo(this.text.visible) : this.steps.undo(this.text.visible);
        if (!edit) return;
        for (const { offset, deleted, inserted } of toSplices(edit)) {
            this.area.setRangeText(shownForm(inserted), offset, offset + deleted, "end");
        }
        this.#takeEdit(edit);
    }

    // MARK: Sending

    async #send(note, { version, edits, key }) {
        let answer = "applied";
        try {
            await tell("/text", { note }, { version, edits, key });
        } catch (error) {
            if (note === this.note) answer = await this.#refused(error);
        }
        if (note !== this.note || !this.text) return;
        this.text.answered(key, answer);
        this.onChange();
        if (answer !== "lost") return;
        // Sent again under its key, which makes it one edit, should it have been applied.
        await after(500);
        if (this.isConnected && note === this.note) this.text?.reconnected();
    }

    async #refused({ code, message }) {
        if (code === "text_version_unknown") return "unknown";
        if (goneCodes.has(code)) {
            // What was typed can still be copied.
            this.area.readOnly = true;
            this.text = null;
        }
        if (code !== "connection_lost" && code !== "agent_not_running") this.onError(message);
        if (!misfitCodes.has(code)) return "lost";
        await after(1_000);
        return "unknown";
    }

    /** Edits the text to become another one, as if it had been typed. */
    replace(text) {
        this.area.focus();
        this.area.value = shownForm(text);
        this.#takeInput();
    }

    // MARK: Edits of others

    /** The program could not go on with the text of a note. */
    async ended(note) {
        await after(2_000);
        if (this.isConnected && note === this.note) this.text?.reconnected();
    }

    receive({ note, opening, line }) {
        // Lines of a stream before the last opening may still be on their way.
        if (note !== this.note || opening !== this.opening) return;
        if (!this.text) return;
        if (this.isComposing) this.waiting.push(line);
        else this.text.receive(line);
        this.area.readOnly = false;
        this.onChange();
    }

    /** Brings an edit into the text area. The selection stays where it belongs. */
    #show(edit) {
        for (const { offset, deleted, inserted } of toSplices(edit)) {
            this.area.setRangeText(shownForm(inserted), offset, offset + deleted, "preserve");
        }
        this.shown = this.area.value;
        this.steps.move(edit);
        // At the place of a caret it is most likely its owner who types.
        this.others = this.others.map((other) => moved(other, edit, true));
        this.#mirrorText();
    }

    // MARK: Carets

    setPeople({ note, people }) {
        if (note !== this.note) return;
        this.others = people ?? [];
        this.#drawCarets();
    }

    setName(name) {
        this.cursor.name = name;
        this.#announce(true);
    }

    /**
     * Tells the others where the person is: at once, but at most every 50 ms, and while letters are typed every 300 ms. Carets of
     * others move with the text, and letters come first.
     */
    #announce(isWanted = false) {
        if (!this.note || !this.isConnected) return;
        const { selectionStart, selectionEnd } = this.area;
        const { start, end } = this.cursor;
        if (!isWanted && start === selectionStart && end === selectionEnd) return;
        if (this.announcing) {
            this.isAnnouncedAgain = true;
            return;
        }
        Object.assign(this.cursor, { start: selectionStart, end: selectionEnd });
        tell("/cursor", null, { page, cursor: this.cursor }).catch(() => {});
        this.announcing = setTimeout(() => {
            this.announcing = null;
            if (this.isAnnouncedAgain) {
                this.isAnnouncedAgain = false;
                this.#announce(true);
            }
        }, this.cursor.isTyping ? 300 : 50);
    }

    /** The mirror has the same letters in the same places as the text area: it gives the page its height, and carets their places. */
    #mirrorText() {
        this.mirror.textContent = `${this.shown}\n`;
        this.#drawCarets();
    }

    #drawCarets() {
        const letters = this.mirror.firstChild;
        if (!letters || this.others.length === 0) return this.carets.replaceChildren();
        const base = this.mirror.getBoundingClientRect();
        const range = document.createRange();
        const rects = (start, end) => {
            range.setStart(letters, Math.max(0, Math.min(start, letters.length - 1)));
            range.setEnd(letters, Math.max(0, Math.min(end, letters.length)));
            return Array.from(range.getClientRects());
        };
        const marks = this.others.flatMap(({ session, name, cursor: { start, end, isTyping } }) => {
            const color = colorOf(session);
            const selection = start === end ? [] : rects(start, end).map((rect) => box(rect, base, `selection ${color}`));
            const place = rects(end, end + 1)[0];
            if (!place) return selection;
            const caret = box({ left: place.left, top: place.top, width: 0, height: place.height }, base, `caret ${color}`);
            caret.appendChild(document.createElement("span")).textContent = name;
            caret.classList.toggle("low", place.top - base.top < 20);
            caret.classList.toggle("idle", !isTyping);
            return [...selection, caret];
        });
        this.carets.replaceChildren(...marks);
    }
}

function moved(other, edit, isAfter) {
    const { start, end } = other.cursor;
    return { ...other, cursor: { ...other.cursor, start: shifted(start, edit, isAfter), end: shifted(end, edit, isAfter) } };
}

function box({ left, top, width, height }, base, name) {
    const mark = document.createElement("div");
    mark.className = name;
    // Set one by one: the policy of the page allows no style in HTML, and scripts may set properties.
    Object.assign(mark.style, {
        left: `${left - base.left}px`, top: `${top - base.top}px`, width: `${width}px`, height: `${height}px`,
    });
    return mark;
}

/** One of six colours, the same for a page wherever it is shown. */
export function colorOf(session) {
    let sum = 0;
    for (const letter of session) sum = (sum * 31 + letter.charCodeAt(0)) % 997;
    return `person-${sum % 6}`;
}
