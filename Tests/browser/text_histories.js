// Random histories of one text, typed in by several pages at once over connections that fail. The pages run the code of the example;
// the agent here is a model that shares none of it: it keeps every letter, also deleted ones, and never transforms an offset.

/** Chance that gives the same history for the same seed (mulberry32). */
function chance(seed) {
    let state = seed >>> 0;
    const next = () => {
        state = (state + 0x6d2b79f5) >>> 0;
        let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
        mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
        return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
    };
    return { below: (count) => Math.floor(next() * count), holds: (probability) => next() < probability };
}

/** The agent: letters in order, each with the number of the edit that inserted it and of the one that deleted it. */
class ModelAgent {
    constructor(text) {
        this.units = Array.from({ length: text.length }, (_, index) => ({ unit: text[index], born: 0, died: Infinity }));
        this.count = 0;
        this.oldest = 0;
        this.answers = new Map();
        this.lines = [];
    }

    get text() { return this.units.filter((one) => one.died === Infinity).map((one) => one.unit).join(""); }

    edit({ version, edits, key }) {
        if (this.answers.has(key)) return this.answers.get(key);
        const known = Number(version);
        if (known < this.oldest) return "unknown";
        const before = this.text;
        this.count += 1;
        const now = this.count;
        for (const { offset, deleted, inserted } of edits) {
            if (/\p{Cs}/u.test(inserted)) throw new Error("half a surrogate pair is sent");
            this.#splice(known, now, offset, deleted, inserted);
        }
        const after = this.text;
        this.lines.push({ kind: "edits", version: String(now), edits: this.#between(now, before, after), key });
        this.answers.set(key, "applied");
        return "applied";
    }

    /** True for a letter that the author saw: of the version it edits, or of the same list of splices. */
    #isSeen(one, known, now) {
        const isThere = one.born <= known || one.born === now;
        return isThere && !(one.died <= known || one.deleters?.includes(now));
    }

    #splice(known, now, offset, deleted, inserted) {
        let [seen, index] = [0, 0];
        while (seen < offset) if (this.#isSeen(this.units[index++], known, now)) seen += 1;
        const fresh = Array.from({ length: inserted.length }, (_, at) => ({ unit: inserted[at], born: now, died: Infinity }));
        for (let at = index, left = deleted; left > 0; at += 1) {
            const one = this.units[at];
            if (!this.#isSeen(one, known, now)) continue;
            (one.deleters ??= []).push(now);
            one.died = Math.min(one.died, now);
            left -= 1;
        }
        // Directly behind the letter on its left: before all that others have put there meanwhile.
        this.units.splice(index, 0, ...fresh);
    }

    #between(now, before, after) {
        const splices = [];
        let place = 0;
        for (const one of this.units) {
            if (one.born === now && one.died === Infinity) splices.push({ offset: place++, deleted: 0, inserted: one.unit });
            else if (one.died === now && one.born < now) splices.push({ offset: place, deleted: 1, inserted: "" });
            else if (one.born <= now && one.died > now) place += 1;
        }
        let check = before;
        for (const { offset, deleted, inserted } of splices) {
            check = check.slice(0, offset) + inserted + check.slice(offset + deleted);
        }
        if (check !== after) throw new Error("the model's own splices are wrong");
        return splices;
    }
}

/** A page and its connections: lines come in order and late; a request or its answer may be lost; the stream may begin anew. */
class Page {
    constructor(code, agent, random, faults) {
        Object.assign(this, { code, agent, random, faults, lines: [], requests: [], read: 0, isCut: false, shown: "", corrections: 0 });
        this.text = new code.SharedText({
            send: (batch) => this.requests.push(batch),
            reopen: () => this.open(),
            show: (edit) => { this.shown = code.applied(edit, this.shown); },
        });
        this.open();
    }

    open() {
        this.lines = [{ kind: "text", version: String(this.agent.count), text: this.agent.text }];
        this.read = this.agent.lines.length;
        this.isCut = false;
    }

    pull() {
        this.lines.push(...this.agent.lines.slice(this.read));
        this.read = this.agent.lines.length;
    }

    type(letters) {
        const before = this.text.visible;
        let [start, end] = [this.random.below(before.length + 1), this.random.below(before.length + 1)].sort((a, b) => a - b);
        end = Math.min(end, start + this.random.below(4));
        const isLow = (index) => before.charCodeAt(index) >= 0xdc00 && before.charCodeAt(index) < 0xe000;
        if (isLow(start)) start -= 1;
        if (isLow(end)) end += 1;
        const next = before.slice(0, start) + letters + before.slice(end);
        const edit = this.code.difference(before, next, start + letters.length);
        if (this.code.applied(this.code.inverted(edit, before), next) !== before) throw new Error("an edit is not undone");
        this.text.edit(edit);
        this.shown = next;
        return before.slice(start, end);
    }

    step() {
        if (this.isCut) {
            if (!this.random.holds(0.2)) return;
            this.isCut = false;
            this.text.reconnected();
            return;
        }
        this.pull();
        if (this.requests.length > 0 && this.random.holds(0.5)) this.#request(this.requests.shift());
        else if (this.lines.length > 0) this.#receive(this.lines.shift());
        if (this.faults && this.random.holds(0.02)) this.#fail();
    }

    /** The page expects the place that the agent gives its own edit, so the line of it changes nothing that is shown. */
    #receive(line) {
        const before = this.shown;
        const isOwn = line.kind === "edits" && line.key === this.text.sent?.batch.key;
        this.text.receive(line);
        if (isOwn && this.shown !== before) this.corrections += 1;
    }

    #request(batch) {
        if (this.faults && this.random.holds(0.05)) return this.#lose(batch);
        const answer = this.agent.edit(batch);
        if (this.faults && this.random.holds(0.05)) return this.#lose(batch);
        // The answer may come before the line or behind it.
        if (this.random.holds(0.5)) {
            this.pull();
            while (this.lines.length > 0) this.#receive(this.lines.shift());
        }
        this.text.answered(batch.key, answer);
    }

    #lose(batch) {
        this.text.answered(batch.key, "lost");
        this.lines = [];
        this.isCut = true;
    }

    #fail() {
        if (this.random.holds(0.5)) {
            // The program ended: lines and requests that are under way are gone.
            for (const batch of this.requests.splice(0)) this.text.answered(batch.key, "lost");
            this.lines = [];
            this.isCut = true;
        } else this.open();
    }

    get isQuiet() { return !this.isCut && !this.text.hasUnsaved && this.requests.length === 0 && this.lines.length === 0; }
}

const plain = ["1", "0", "-4", "12", " ", "e", "\n"];

/** Runs one history. Throws if a page or the agent differs in the end, or a letter vanished that nobody deleted. */
export function run(code, seed, faults = true) {
    const random = chance(seed);
    const agent = new ModelAgent("The 🦊 runs.");
    const pages = Array.from({ length: 2 + random.below(3) }, () => new Page(code, agent, random, faults));
    const [typed, deleted] = [[], new Set()];
    let number = 0;
    for (let turn = 0; turn < 40 + random.below(160); turn += 1) {
        const page = pages[random.below(pages.length)];
        if (page.text.confirmed !== null && random.holds(0.3)) {
            // Each letter is typed once, so that a lost or doubled one is seen. Every third takes two units.
            const letters = Array.from({ length: random.below(3) }, () => {
                number += 1;
                return String.fromCodePoint(number % 3 ? 0x4e00 + number : 0x20000 + number);
            });
            typed.push(...letters);
            // Among them what JavaScript might take for numbers.
            if (random.holds(0.3)) letters.unshift(plain[random.below(plain.length)]);
            // Half of a surrogate pair, from a paste.
            if (random.holds(0.005)) letters.push("\ud83d");
            for (const letter of page.type(letters.join(""))) deleted.add(letter);
        } else page.step();
        if (faults && random.holds(0.01)) agent.oldest = agent.count;
    }
    for (const page of pages) page.faults = false;
    const give = (message) => { throw new Error(`seed ${seed}: ${message}`); };
    for (let turn = 0; pages.some((page) => !page.isQuiet || page.read < agent.lines.length); turn += 1) {
        if (turn > 5_000) give("the pages do not come to rest");
        for (const page of pages) page.step();
    }
    const [first, ...rest] = [agent.text, ...pages.flatMap((page) => [page.text.confirmed, page.text.visible, page.shown])];
    for (const text of rest) if (text !== first) give(`a page shows ${text}, the agent has ${first}`);
    if (/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.test(first)) give("a letter was torn");
    const there = new Map();
    for (const letter of first) there.set(letter, (there.get(letter) ?? 0) + 1);
    for (const letter of typed) {
        const count = there.get(letter) ?? 0;
        if (count > 1) give(`${letter} stands ${count} times`);
        if (count === 0 && !deleted.has(letter)) give(`${letter} vanished`);
    }
    const corrections = pages.reduce((sum, page) => sum + page.corrections, 0);
    return { edits: agent.count, letters: typed.length, corrections };
}

/**
 * Runs many histories. The model places a letter by its left neighbour, which may be deleted, and the page by offsets: rarely these
 * differ, and then the page follows. Were the rule for one place another than the agent's, it would have to do so often.
 */
export function runAll(code, count) {
    const sum = { histories: 0, edits: 0, letters: 0, corrections: 0 };
    for (let seed = 1; seed <= count; seed += 1) {
        const one = run(code, seed, seed % 4 !== 0);
        sum.histories += 1;
        for (const key of ["edits", "letters", "corrections"]) sum[key] += one[key];
    }
    if (sum.corrections * 50 > sum.edits) throw new Error(`${sum.corrections} of ${sum.edits} edits had to be corrected`);
    return sum;
}
