// A list of any length of which only what is in view is in the page.
//
// The agent gives pages, each with the cursor of the next. So the way to the middle leads over all pages before it, once; their
// cursors stay, their entries do not.

import { page } from '/agent.js';
import { h } from '/elements.js';
import { number } from '/words.js';

const ROW = 37;
const PAGE = 1000;
/** Pages that are held. */
const HELD = 12;
/** Rows that are drawn above and below what is in view. */
const MARGIN = 12;
/** Browsers draw no element that is much higher. */
const MOST_ROWS = 800000;

export class LongList {
    /**
     * @param {string} label what the list is, for people who do not see it
     * @param {(after: string | null, limit: number) => string} address of a page
     * @param {(entry: object) => Node[]} draw the contents of a row
     * @param {(entry: object) => string} open the address that a row leads to
     */
    constructor(label, address, draw, open) {
        Object.assign(this, { address, draw, open, total: 0, chosen: 0, cursors: [null], pages: new Map(), fault: null });
        this.space = h('div', { class: 'space' });
        this.box = h('div', {
            class: 'long', role: 'listbox', tabindex: 0, 'aria-label': label,
            scroll: () => this.draft(), keydown: (event) => this.key(event),
        }, this.space);
        this.note = h('p', { class: 'quiet', role: 'status' });
        this.element = h('div', {}, this.note, this.box);
        this.stop = new AbortController();
    }

    /** Shows a list of so many entries, from its beginning. */
    async begin(total) {
        Object.assign(this, { total: Math.min(total, MOST_ROWS), all: total, chosen: 0, cursors: [null], pages: new Map(), fault: null });
        this.space.style.height = `${this.total * ROW}px`;
        this.box.hidden = total === 0;
        this.box.scrollTop = 0;
        this.draft();
    }

    close() { this.stop.abort(); }

    /** The rows that are in view. */
    range() {
        const height = this.box.clientHeight || 600;
        const first = Math.max(0, Math.floor(this.box.scrollTop / ROW) - MARGIN);
        return [first, Math.min(this.total, Math.ceil((this.box.scrollTop + height) / ROW) + MARGIN)];
    }

    draft() {
        if (this.isDrafting) return;
        this.isDrafting = true;
        requestAnimationFrame(() => {
            this.isDrafting = false;
            this.drawRows();
            this.fill().catch((error) => {
                if (error.name === 'AbortError') return;
                this.fault = error;
                this.tell();
            });
        });
    }

    entry(index) { return this.pages.get(Math.floor(index / PAGE))?.[index % PAGE]; }

    drawRows() {
        const [first, end] = this.range();
        const rows = [];
        for (let index = first; index < end; index += 1) {
            const entry = this.entry(index);
            const row = h('div', {
                class: 'row', role: 'option', id: `row-${index}`, 'aria-posinset': index + 1, 'aria-setsize': this.all,
                'aria-selected': index === this.chosen ? 'true' : 'false',
                click: () => { if (entry) location.hash = this.open(entry); },
            }, entry ? this.draw(entry) : h('span', { class: 'quiet' }, '…'));
            row.style.top = `${index * ROW}px`;
            rows.push(row);
        }
        this.space.replaceChildren(...rows);
        this.box.setAttribute('aria-activedescendant', `row-${this.chosen}`);
        this.tell();
    }

    tell() {
        const top = this.box.scrollTop;
        const first = Math.min(Math.floor(top / ROW) + 1, this.total);
        const last = Math.min(Math.max(first, Math.floor((top + this.box.clientHeight) / ROW)), this.total);
        let words = this.total === 0 ? 'There is nothing here.' : `${number(first)} to ${number(last)} of ${number(this.all)}`;
        if (this.walking) words = `On the way there: ${number(this.walking * PAGE)} of ${number(this.all)}`;
        if (this.fault) words = [this.fault.message, this.fault.hint].filter(Boolean).join(' ');
        if (this.note.textContent !== words) this.note.textContent = words;
    }

    /** Fetches the pages in view. Only one walk is under way; it goes where the view is by then. */
    async fill() {
        if (this.isFilling) return;
        this.isFilling = true;
        try {
            for (;;) {
                const [first, end] = this.range();
                const wanted = [Math.floor(first / PAGE), Math.floor(Math.max(first, end - 1) / PAGE)]
                    .find((index) => index * PAGE < this.total && !this.pages.has(index));
                if (wanted === undefined || this.fault) return;
                const cursors = this.cursors;
                const known = Math.min(wanted, cursors.length - 1);
                this.walking = known < wanted ? known : 0;
                const { entries, next } = await page(this.address(cursors[known], PAGE), this.stop.signal);
                // It began anew meanwhile.
                if (cursors !== this.cursors) continue;
                if (next !== null && cursors.length === known + 1) cursors.push(next);
                if (known === wanted || next === null) this.hold(known, entries);
                if (next === null) {
                    // Fewer are there than were counted.
                    this.total = Math.min(this.total, known * PAGE + entries.length);
                    this.space.style.height = `${this.total * ROW}px`;
                }
                if (known === wanted) this.walking = 0;
                this.drawRows();
            }
        } finally {
            this.isFilling = false;
        }
    }

    hold(index, entries) {
        this.pages.delete(index);
        this.pages.set(index, entries);
        for (const old of this.pages.keys()) {
            if (this.pages.size <= HELD) break;
            this.pages.delete(old);
        }
    }

    key(event) {
        const screen = Math.max(1, Math.floor(this.box.clientHeight / ROW) - 1);
        const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: screen, PageUp: -screen, Home: -Infinity, End: Infinity };
        if (event.key === 'Enter' && this.entry(this.chosen)) {
            location.hash = this.open(this.entry(this.chosen));
        } else if (Object.hasOwn(steps, event.key)) {
            event.preventDefault();
            this.chosen = Math.max(0, Math.min(this.total - 1, this.chosen + steps[event.key]));
            const top = this.chosen * ROW;
            if (top < this.box.scrollTop) this.box.scrollTop = top;
            else if (top + ROW > this.box.scrollTop + this.box.clientHeight) this.box.scrollTop = top + ROW - this.box.clientHeight;
            this.draft();
        }
    }
}
