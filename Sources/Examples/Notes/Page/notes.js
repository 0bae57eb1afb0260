// The page: joins the list, the open note and the program. What it shows of a note is always text, never HTML.

import { Editor, colorOf } from "./editor.js";
import { NoteList, timeText } from "./list.js";
import { PictureStrip, fillThumbnail } from "./pictures.js";
import { ask, listen, tell } from "./program.js";

const part = (id) => document.getElementById(id);
const article = document.querySelector("article");

const notes = new Map();
let open = null;
let view = "notes";
let tag = null;
/** The ids that the program found; null while nothing is searched. */
let found = null;
let device = "this device";
let standing = { isAgentThere: false, inStep: [], behind: [], away: [] };
let isConnected = false;

// MARK: The list

const list = new NoteList(part("list"), { onOpen: openNote, fillPicture: fillThumbnail });

const kindOf = (note) => (note.inBin ? "bin" : note.archived ? "archive" : "notes");

function isShown(note) {
    // A search looks everywhere but in the bin, unless that is open.
    if (found ? note.inBin !== (view === "bin") : kindOf(note) !== view) return false;
    return (!tag || note.tags.includes(tag)) && (!found || found.has(note.id));
}

let isListWanted = false;
let listShownAt = -Infinity;

/** Shows the list with the next frame, at most every 150 ms: each letter that is typed is a change of its note. */
function showList() {
    if (isListWanted) return;
    isListWanted = true;
    const pause = Math.max(0, listShownAt + 150 - performance.now());
    setTimeout(() => requestAnimationFrame(drawList), pause);
}

function drawList() {
    isListWanted = false;
    listShownAt = performance.now();
    const shown = [];
    const counts = { notes: 0, archive: 0, bin: 0 };
    const tags = new Map();
    for (const note of notes.values()) {
        counts[kindOf(note)] += 1;
        if (!note.inBin) for (const name of note.tags) tags.set(name, (tags.get(name) ?? 0) + 1);
        if (isShown(note)) shown.push(note);
    }
    shown.sort((one, other) => other.edited - one.edited || (one.id < other.id ? 1 : -1));
    list.show(shown, open);
    showFilters(counts, tags);
    const words = found ? "Nothing found." : { notes: "No notes yet.", archive: "The archive is empty.", bin: "The bin is empty." }[view];
    part("empty").textContent = words;
    part("empty").hidden = shown.length > 0 || !isLoaded;
    part("bin-bar").hidden = view !== "bin" || counts.bin === 0;
    if (isLoaded && performance.getEntriesByName("list-shown").length === 0) performance.mark("list-shown");
}

function showFilters(counts, tags) {
    for (const button of part("views").children) {
        button.setAttribute("aria-pressed", !found && button.dataset.view === view);
        button.querySelector("output").textContent = counts[button.dataset.view] || "";
    }
    if (tag && !tags.has(tag)) tags.set(tag, 0);
    const names = Array.from(tags.keys()).sort((one, other) => one.localeCompare(other));
    part("tags-title").hidden = names.length === 0;
    const known = new Map(Array.from(part("tag-filters").children, (button) => [button.dataset.tag, button]));
    part("tag-filters").replaceChildren(...names.map((name) => {
        const button = known.get(name) ?? filterButton(name);
        button.setAttribute("aria-pressed", name === tag);
        button.lastChild.textContent = tags.get(name);
        return button;
    }));
}

function filterButton(name) {
    const button = document.createElement("button");
    button.type = "button";
    button.dataset.tag = name;
    button.appendChild(document.createElement("span")).textContent = name;
    button.appendChild(document.createElement("output"));
    return button;
}

part("side").addEventListener("click", (event) => {
    const button = event.target.closest("[data-view], [data-tag]");
    if (!button) return;
    if (button.dataset.view) {
        view = button.dataset.view;
        search("");
    } else tag = tag === button.dataset.tag ? null : button.dataset.tag;
    setMenu(false);
    part("list").scrollTop = 0;
    showList();
});

let searches = 0;

async function search(text) {
    if (part("search").value !== text) part("search").value = text;
    searches += 1;
    const number = searches;
    const ids = text.trim() ? await ask("/search", { id: text }).catch(() => null) : null;
    // A later search may have been answered before.
    if (number !== searches) return;
    found = ids && new Set(ids);
    showList();
}

// MARK: The open note

const editor = new Editor({
    area: part("text"), mirror: part("mirror"), carets: part("carets"), onChange: showSaved,
    onError: (message) => toast(message),
});
const pictures = new PictureStrip(part("pictures"), {
    onRemove: (undo) => toast("The picture was removed.", "Undo", undo),
    onError: (message) => toast(message),
});

/** Returns false where the note that is open has letters which were not taken yet. */
async function leaveNote() {
    for (let turn = 0; editor.hasUnsaved && turn < 40; turn += 1) await new Promise((go) => setTimeout(go, 25));
    if (!editor.hasUnsaved) return true;
    toast("This note has letters that are not saved yet. It stays open until the program takes them.");
    return false;
}

async function openNote(id, { keepsFocus = false } = {}) {
    if (id === open || !(await leaveNote())) return;
    open = id;
    editor.open(id);
    pictures.show(id);
    showPeople([]);
    showNote();
    showList();
    document.body.classList.toggle("has-note", id !== null);
    if (id && !keepsFocus) part("text").focus({ preventScroll: true });
    document.querySelector(".page").scrollTop = 0;
}

function showNote() {
    const note = notes.get(open);
    article.hidden = open === null;
    part("none").hidden = open !== null;
    document.title = note?.title ? `${note.title} – Notes` : "Notes";
    if (!note) return;
    part("archive").textContent = note.archived ? "Back from the archive" : "Archive";
    part("archive").hidden = note.inBin;
    part("bin").textContent = note.inBin ? "Put back" : "Delete";
    const chips = part("chips");
    if (chips.dataset.tags === note.tags.join("\n")) return;
    chips.dataset.tags = note.tags.join("\n");
    chips.replaceChildren(...note.tags.map((name) => {
        const chip = document.createElement("span");
        chip.className = "tag";
        chip.textContent = name;
        const button = chip.appendChild(document.createElement("button"));
        button.type = "button";
        button.textContent = "×";
        button.setAttribute("aria-label", `Remove the tag ${name}`);
        button.addEventListener("click", () => change({ removeTag: name }));
        return chip;
    }));
}

function addTag(event) {
    if ((event.key !== "Enter" && event.key !== ",") || event.isComposing) return;
    event.preventDefault();
    if (event.target.value.trim()) change({ addTag: event.target.value });
    event.target.value = "";
}

function change(values, id = open) {
    return tell("/change", { note: id }, values).catch((error) => toast(error.message));
}

/** Said only when saving takes long enough to be of interest. */
function showSaved() {
    clearTimeout(showSaved.timer);
    if (!editor.hasUnsaved) part("saved").textContent = "";
    else showSaved.timer = setTimeout(() => { part("saved").textContent = isConnected ? "Saving…" : "Not saved yet"; }, 800);
}

function showPeople(people) {
    const faces = people.slice(0, 5).map(({ session, name }) => {
        const face = document.createElement("span");
        face.className = `face ${colorOf(session)}`;
        face.textContent = Array.from(name)[0]?.toUpperCase() ?? "?";
        face.title = name;
        return face;
    });
    const typing = people.filter((person) => person.cursor.isTyping).map((person) => person.name);
    const words = document.createElement("span");
    if (typing.length > 0) words.textContent = `${joined(typing)} ${typing.length > 1 ? "are" : "is"} typing`;
    else if (people.length > 0) words.textContent = `${joined(people.map((person) => person.name))} ${people.length > 1 ? "are" : "is"} here`;
    part("people").replaceChildren(...faces, words);
}

const joined = (names) => (names.length < 3 ? names.join(" and ") : `${names.slice(0, 2).join(", ")} and ${names.length - 2} more`);

async function newNote() {
    if (!(await leaveNote())) return;
    try {
        const { id } = await tell("/create", null, { tags: tag ? [tag] : [] });
        if (view !== "notes" || found) {
            view = "notes";
            search("");
        }
        if (!notes.has(id)) notes.set(id, { id, title: "", excerpt: "", tags: tag ? [tag] : [], edited: Date.now() });
        await openNote(id);
        list.reveal();
    } catch (error) {
        toast(error.message);
    }
}

async function bin() {
    const id = open;
    const { inBin } = notes.get(id);
    await change({ inBin: !inBin }, id);
    if (inBin) return;
    await openNote(null);
    // The note and its pictures are where they were: putting it back sends one small change.
    toast("Moved to the bin.", "Undo", async () => {
        await change({ inBin: false }, id);
        await openNote(id);
    });
}

// MARK: History

async function showHistory() {
    const note = open;
    const dialog = part("history");
    part("stages").replaceChildren();
    part("preview").textContent = "";
    part("use-version").disabled = true;
    dialog.showModal();
    try {
        const stages = await ask("/history", { note });
        part("stages").replaceChildren(...stages.map((stage) => {
            const button = document.createElement("button");
            button.type = "button";
            button.textContent = stage.isThisDevice ? `${stage.device} (here)` : stage.device;
            const words = button.appendChild(document.createElement("small"));
            const clock = new Date(stage.end).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
            const when = timeText(stage.end) === clock ? clock : `${timeText(stage.end)}, ${clock}`;
            words.textContent = [when, stage.inserted && `+${stage.inserted}`, stage.deleted && `−${stage.deleted}`].filter(Boolean).join("  ");
            button.addEventListener("click", () => showVersion(note, stage.version, button));
            const item = document.createElement("li");
            item.appendChild(button);
            return item;
        }));
        part("stages").querySelector("button")?.click();
    } catch (error) {
        part("preview").textContent = error.message;
    }
}

async function showVersion(note, version, button) {
    for (const other of part("stages").querySelectorAll("button")) other.setAttribute("aria-pressed", other === button);
    const { text } = await ask("/version", { note, id: version }).catch((error) => ({ text: error.message }));
    if (button.getAttribute("aria-pressed") !== "true") return;
    part("preview").textContent = text;
    part("use-version").disabled = false;
    part("use-version").onclick = () => {
        part("history").close();
        if (note === open) editor.replace(text);
    };
}

// MARK: Words at the edge

function toast(words, action, run) {
    const [text, button] = part("toast").children;
    text.textContent = words;
    button.textContent = action ?? "OK";
    button.onclick = () => {
        part("toast").hidden = true;
        Promise.resolve(run?.()).catch((error) => toast(error.message));
    };
    part("toast").hidden = false;
    clearTimeout(toast.timer);
    toast.timer = setTimeout(() => { part("toast").hidden = true; }, 12_000);
}

function devices(names) { return names.length === 1 ? names[0] : `${names.length} devices`; }

function standingWords() {
    const { isAgentThere, inStep, behind, away } = standing;
    if (!isConnected) return ["lost", "The program of this page does not answer. What you type stays in this page until it does."];
    if (!isAgentThere) return ["lost", "The agent does not answer. What you type stays in this page until it does."];
    const others = away.length > 0 ? ` ${joined(away)} ${away.length > 1 ? "are" : "is"} away.` : "";
    if (behind.length > 0) return ["wait", `Bringing ${devices(behind)} in step…${others}`];
    if (inStep.length > 0) return ["good", `In step with ${devices(inStep)}.${others}`];
    if (away.length > 0) return ["alone", `Offline: your notes are kept here.${others}`];
    return ["alone", "On this device alone. Pair another with: lanyard invite"];
}

/** A device that lacks a letter for a moment is not worth a word. */
function showStanding() {
    const [state, words] = standingWords();
    clearTimeout(showStanding.timer);
    showStanding.timer = setTimeout(() => {
        part("standing").dataset.state = state;
        part("standing").lastChild.textContent = words;
        part("standing").title = [`This is ${device}.`, ...standing.inStep, ...standing.behind, ...standing.away].join("\n");
    }, state === "wait" ? 700 : 0);
}

function setMenu(isOpen) {
    document.body.classList.toggle("has-menu", isOpen);
    part("menu").setAttribute("aria-expanded", isOpen);
}

// MARK: The program

let isLoaded = false;
/** Notes of the list that is arriving; those that are not among them are gone. */
let arriving = null;

function takeNotes({ all, more, count, changed = [], gone = [] }) {
    if (all) arriving = { left: count, ids: new Set() };
    for (const note of [...(all ?? []), ...(more ?? []), ...changed]) {
        const before = notes.get(note.id);
        notes.set(note.id, note);
        if (note.id !== open) continue;
        showNote();
        if (before && (before.edited !== note.edited || before.picture !== note.picture)) pictures.show(open);
    }
    for (const id of gone) notes.delete(id);
    if (arriving && (all || more)) {
        for (const note of all ?? more) arriving.ids.add(note.id);
        if (arriving.ids.size >= arriving.left) {
            for (const id of notes.keys()) if (!arriving.ids.has(id)) notes.delete(id);
            arriving = null;
        }
        isLoaded = true;
    }
    if (open && !notes.has(open)) {
        toast("This note was deleted.");
        editor.open(null);
        openNote(null);
    }
    if (found) search(part("search").value);
    showList();
}

listen({
    hello: (event) => {
        device = event.device;
        part("name").placeholder = device;
        isConnected = true;
        editor.reconnected();
        showStanding();
        showSaved();
    },
    notes: takeNotes,
    standing: (event) => {
        standing = event;
        showStanding();
    },
    text: (event) => editor.receive(event),
    closed: (event) => {
        if (event.note === open && notes.has(open)) toast(event.error);
        editor.ended(event.note);
    },
    people: (event) => {
        editor.setPeople(event);
        if (event.note === open) showPeople(event.people ?? []);
    },
    picture: (event) => {
        pictures.record(event);
        if (event.isHere) showList();
    },
}, () => {
    isConnected = false;
    editor.disconnected();
    showPeople([]);
    showStanding();
    showSaved();
});

// MARK: Keys, files and the rest

part("search").addEventListener("input", (event) => search(event.target.value));
part("new").addEventListener("click", newNote);
part("tag").addEventListener("keydown", addTag);
part("menu").addEventListener("click", () => setMenu(!document.body.classList.contains("has-menu")));
part("back").addEventListener("click", () => openNote(null));
part("archive").addEventListener("click", () => change({ archived: !notes.get(open).archived }));
part("bin").addEventListener("click", bin);
part("show-history").addEventListener("click", showHistory);
part("add-picture").addEventListener("click", () => part("file").click());
part("file").addEventListener("change", async (event) => {
    await pictures.add(event.target.files);
    event.target.value = "";
});
part("empty-bin").addEventListener("click", () => part("ask-empty").showModal());
part("really-empty").addEventListener("click", () => {
    part("ask-empty").close();
    tell("/empty-bin").catch((error) => toast(error.message));
});
for (const button of document.querySelectorAll("[data-close]")) {
    button.addEventListener("click", () => button.closest("dialog").close());
}

part("name").value = localStorage.getItem("name") ?? "";
editor.setName(part("name").value);
part("name").addEventListener("change", (event) => {
    localStorage.setItem("name", event.target.value.trim());
    editor.setName(event.target.value.trim());
});

document.addEventListener("keydown", (event) => {
    const isTyping = event.target.matches("input, textarea, [contenteditable]");
    if (document.querySelector("dialog[open]")) return;
    if ((event.key === "k" && (event.ctrlKey || event.metaKey)) || (event.key === "/" && !isTyping)) {
        event.preventDefault();
        part("search").focus();
        part("search").select();
    } else if (event.key.toLowerCase() === "n" && !event.ctrlKey && !event.metaKey && (event.altKey || !isTyping)) {
        event.preventDefault();
        newNote();
    } else if (event.key === "Escape" && !event.isComposing) {
        if (document.body.classList.contains("has-menu")) setMenu(false);
        else if (event.target === part("search")) {
            search("");
            part("list").focus();
        } else if (event.target === part("text") && matchMedia("(max-width: 680px)").matches) openNote(null);
        else part("list").focus();
    }
});

document.addEventListener("click", (event) => {
    if (!event.target.closest("#side, #menu")) setMenu(false);
});

const files = (transfer) => Array.from(transfer?.files ?? []).filter((file) => file.type.startsWith("image/"));
const noteArea = part("note");

noteArea.addEventListener("paste", (event) => {
    const pasted = files(event.clipboardData);
    if (pasted.length === 0) return;
    event.preventDefault();
    pictures.add(pasted);
});
noteArea.addEventListener("dragover", (event) => {
    if (!open || !event.dataTransfer.types.includes("Files")) return;
    event.preventDefault();
    noteArea.classList.add("dropping");
});
noteArea.addEventListener("dragleave", () => noteArea.classList.remove("dropping"));
noteArea.addEventListener("drop", (event) => {
    noteArea.classList.remove("dropping");
    if (!open || !event.dataTransfer.types.includes("Files")) return;
    event.preventDefault();
    pictures.add(files(event.dataTransfer));
});

addEventListener("beforeunload", (event) => { if (editor.hasUnsaved) event.preventDefault(); });
