// A list of any length of which only the rows in sight are in the document.

const margin = 4;

export class NoteList {
    /** `onOpen(id)` is called for the row that a person chooses, `fillPicture(image, id)` for a row with a picture. */
    constructor(scroller, { onOpen, fillPicture }) {
        this.scroller = scroller;
        this.fillPicture = fillPicture;
        this.onOpen = onOpen;
        this.notes = [];
        this.selected = null;
        this.rows = new Map();
        this.space = scroller.appendChild(document.createElement("div"));
        this.space.className = "space";
        scroller.addEventListener("scroll", () => this.#render(), { passive: true });
        new ResizeObserver(() => this.#render()).observe(scroller);
        scroller.addEventListener("click", (event) => {
            const row = event.target.closest("[data-id]");
            if (row) this.onOpen(row.dataset.id);
        });
        scroller.addEventListener("keydown", (event) => this.#key(event));
    }

    show(notes, selected) {
        this.notes = notes;
        this.selected = selected;
        this.#render();
    }

    /** Scrolls as little as needed to have the selected row in sight. */
    reveal() {
        const index = this.notes.findIndex((note) => note.id === this.selected);
        if (index < 0) return;
        const { scrollTop, clientHeight } = this.scroller;
        const top = index * this.rowHeight;
        if (top < scrollTop) this.scroller.scrollTop = top;
        else if (top + this.rowHeight > scrollTop + clientHeight) this.scroller.scrollTop = top + this.rowHeight - clientHeight;
    }

    /** As the style sheet has it. */
    get rowHeight() {
        return (this.knownHeight ??= parseFloat(getComputedStyle(this.scroller).getPropertyValue("--row")) || 76);
    }

    #render() {
        const height = this.rowHeight;
        this.space.style.height = `${this.notes.length * height}px`;
        const first = Math.max(0, Math.floor(this.scroller.scrollTop / height) - margin);
        const end = Math.min(this.notes.length, Math.ceil((this.scroller.scrollTop + this.scroller.clientHeight) / height) + margin);
        const inSight = new Set();
        for (let index = first; index < end; index += 1) {
            const note = this.notes[index];
            inSight.add(note.id);
            let row = this.rows.get(note.id);
            if (!row) this.rows.set(note.id, (row = this.space.appendChild(makeRow(note.id))));
            if (row.note !== note) this.#fill(row, note);
            row.style.transform = `translateY(${index * height}px)`;
            row.setAttribute("aria-posinset", index + 1);
            row.setAttribute("aria-setsize", this.notes.length);
            row.setAttribute("aria-selected", note.id === this.selected);
        }
        for (const [id, row] of this.rows) {
            if (inSight.has(id)) continue;
            row.remove();
            this.rows.delete(id);
        }
        if (inSight.has(this.selected)) this.scroller.setAttribute("aria-activedescendant", `row-${this.selected}`);
        else this.scroller.removeAttribute("aria-activedescendant");
    }

    #fill(row, note) {
        const [image, title, time, excerpt, tags] = row.parts;
        row.note = note;
        title.textContent = note.title || "New note";
        title.classList.toggle("untitled", !note.title);
        excerpt.textContent = note.excerpt;
        time.textContent = note.edited ? timeText(note.edited) : "";
        tags.replaceChildren(...note.tags.slice(0, 4).map((tag) => {
            const item = document.createElement("span");
            item.className = "tag";
            item.textContent = tag;
            return item;
        }));
        image.hidden = !note.picture;
        if (note.picture) this.fillPicture(image, note.picture);
    }

    #key(event) {
        const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8, Home: -Infinity, End: Infinity }[event.key];
        if (step === undefined || this.notes.length === 0) return;
        event.preventDefault();
        const index = this.notes.findIndex((note) => note.id === this.selected);
        const next = Math.max(0, Math.min(this.notes.length - 1, index < 0 ? 0 : index + step));
        this.onOpen(this.notes[next].id, { keepsFocus: true });
        this.reveal();
    }
}

function makeRow(id) {
    const row = document.createElement("div");
    row.className = "row";
    row.id = `row-${id}`;
    row.dataset.id = id;
    row.setAttribute("role", "option");
    row.parts = ["img", "strong", "time", "p", "div"].map((name) => row.appendChild(document.createElement(name)));
    row.parts[0].alt = "";
    row.parts[4].className = "tags";
    return row;
}

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const year = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", year: "numeric" });

/** A time as short as it can be: the hour of today, the day of this year. */
export function timeText(milliseconds) {
    const [time, now] = [new Date(milliseconds), new Date()];
    if (time.toDateString() === now.toDateString()) return clock.format(time);
    return (time.getFullYear() === now.getFullYear() ? day : year).format(time);
}
