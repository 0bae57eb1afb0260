// Pictures of notes. They never change, so a thumbnail is made once, in this browser, and kept by it: it is never sent.

import { ask, tell, upload } from "./program.js";

const edge = 112;
const maximumBytes = 32 * 1024 * 1024;
const address = (id) => `/picture?id=${encodeURIComponent(id)}`;

// MARK: Thumbnails

/** The browser's own store. Without one, as in a private window, thumbnails are made anew. */
const store = new Promise((resolve) => {
    const opening = indexedDB.open("notes", 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore("thumbnails");
    opening.onsuccess = () => resolve(opening.result);
    opening.onerror = () => resolve(null);
});

async function inStore(mode, use) {
    const database = await store;
    if (!database) return null;
    return new Promise((resolve) => {
        const request = use(database.transaction("thumbnails", mode).objectStore("thumbnails"));
        request.onsuccess = () => resolve(request.result ?? null);
        request.onerror = () => resolve(null);
    });
}

async function makeThumbnail(id) {
    const response = await fetch(address(id));
    if (!response.ok) return null;
    const whole = await createImageBitmap(await response.blob());
    const side = Math.min(whole.width, whole.height);
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = edge;
    const from = [(whole.width - side) / 2, (whole.height - side) / 2, side, side];
    canvas.getContext("2d").drawImage(whole, ...from, 0, 0, edge, edge);
    whole.close();
    return new Promise((resolve) => canvas.toBlob(resolve, "image/jpeg", 0.82));
}

const thumbnails = new Map();
/** One picture is read at a time: text and its answers need connections, too. */
let last = Promise.resolve();

function thumbnail(id) {
    if (!thumbnails.has(id)) {
        thumbnails.set(id, (async () => {
            let blob = await inStore("readonly", (all) => all.get(id));
            if (!blob) {
                const next = last.then(() => makeThumbnail(id)).catch(() => null);
                last = next;
                blob = await next;
                if (blob) await inStore("readwrite", (all) => all.put(blob, id));
            }
            // Asked for again when the picture has come.
            if (!blob) thumbnails.delete(id);
            return blob && URL.createObjectURL(blob);
        })());
    }
    return thumbnails.get(id);
}

/** Shows the thumbnail of a picture in an image; nothing while the picture is not here. */
export async function fillThumbnail(image, id) {
    if (image.dataset.picture === id) return;
    image.dataset.picture = id;
    image.removeAttribute("src");
    const url = await thumbnail(id);
    if (image.dataset.picture !== id) return;
    if (url) image.src = url;
    else delete image.dataset.picture;
}

// MARK: The pictures of a note

export class PictureStrip {
    /** `onRemove(undo)` is called when a picture was taken off, `onError(message)` when one cannot be added. */
    constructor(container, { onRemove, onError }) {
        Object.assign(this, { container, onRemove, onError });
        this.note = null;
        this.pictures = [];
    }

    async show(note) {
        if (this.note !== note) {
            this.note = note;
            this.pictures = [];
            this.#render();
        }
        if (!note) return;
        const pictures = await ask("/pictures", { note }).catch(() => null);
        if (this.note !== note || !pictures) return;
        this.pictures = pictures;
        this.#render();
    }

    /** A picture that is on its way. */
    record({ id, progress, isHere }) {
        const picture = this.pictures.find((one) => one.id === id);
        if (!picture || picture.isHere) return;
        Object.assign(picture, { progress, isHere });
        this.#render();
    }

    async add(files) {
        const note = this.note;
        for (const file of note ? files : []) {
            try {
                if (file.size > maximumBytes) throw new Error(`${file.name} is larger than 32 MiB.`);
                await upload("/attach", { note, name: file.name }, file);
            } catch (error) {
                this.onError(error.message);
            }
        }
        if (this.note === note) await this.show(note);
    }

    async #remove(picture) {
        const note = this.note;
        try {
            await tell("/detach", { note }, picture);
            // Its bytes stay where they are for a day, so putting it back sends no picture.
            this.onRemove(async () => {
                await tell("/attach-again", { note }, picture);
                if (this.note === note) await this.show(note);
            });
        } catch (error) {
            this.onError(error.message);
        }
        if (this.note === note) await this.show(note);
    }

    #render() {
        const known = new Map(Array.from(this.container.children, (figure) => [figure.dataset.id, figure]));
        this.container.replaceChildren(...this.pictures.map((picture) => {
            const figure = known.get(picture.id) ?? this.#figure(picture);
            const [link, words] = figure.children;
            words.hidden = picture.isHere;
            const percent = picture.progress ? ` (${Math.round(picture.progress * 100)} %)` : "";
            words.textContent = `${picture.name || "A picture"} is on its way${percent}`;
            link.hidden = !picture.isHere;
            if (picture.isHere && !link.firstChild.src) link.firstChild.src = address(picture.id);
            // Has the program ask the other devices for it.
            else if (!picture.isHere && !figure.isAsked) {
                figure.isAsked = true;
                fetch(address(picture.id)).catch(() => {});
            }
            return figure;
        }));
        this.container.hidden = this.pictures.length === 0;
    }

    #figure(picture) {
        const figure = document.createElement("figure");
        figure.dataset.id = picture.id;
        const link = figure.appendChild(document.createElement("a"));
        link.href = address(picture.id);
        link.target = "_blank";
        link.rel = "noopener";
        const image = link.appendChild(document.createElement("img"));
        image.alt = picture.name || "Picture";
        if (picture.width) Object.assign(image, { width: picture.width, height: picture.height });
        figure.appendChild(document.createElement("p"));
        const button = figure.appendChild(document.createElement("button"));
        button.type = "button";
        button.className = "remove";
        button.textContent = "×";
        button.setAttribute("aria-label", `Remove ${image.alt}`);
        button.addEventListener("click", () => this.#remove(picture));
        return figure;
    }
}
