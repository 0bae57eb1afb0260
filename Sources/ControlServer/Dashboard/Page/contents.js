// What is in it? Collections and their objects, streams, attachments, deleted objects.

import { deviceName, exactly, get, path, send, state, when } from '/agent.js';
import { button, explain, h, put, sentence, table, time } from '/elements.js';
import { openObject } from '/object.js';
import { LongList } from '/scroll.js';
import { summary } from '/values.js';
import { bytes, count, number, shown } from '/words.js';

let current = null;

/** Parts: nothing, `of COLLECTION`, `object COLLECTION ID`, `stream NAME`, `attachments` or `deleted`. */
export function openContents(holder, parts) {
    const [kind, ...rest] = parts;
    const body = h('div', { class: 'body' });
    holder.replaceChildren(h('h1', {}, 'What is in it?'), trail(kind, rest), body);
    const view = (views[kind] ?? overview)(body, ...rest);
    current = view;
    return () => {
        view.close?.();
        if (current === view) current = null;
    };
}

when(['changes'], () => current?.changed?.(state.changes));
when(['status'], () => current?.moved?.());
when(['conflicts'], () => current?.decided?.());

function trail(kind, [name, id]) {
    const links = [kind ? h('a', { href: '#/contents' }, 'home') : 'home'];
    const collection = (text) => h('a', { href: `#/contents/of/${encodeURIComponent(text)}` }, shown(text));
    if (kind === 'of') links.push(shown(name));
    if (kind === 'object') links.push(collection(name), shown(id));
    if (kind === 'stream') links.push(`stream ${shown(name)}`);
    if (kind === 'attachments' || kind === 'deleted') links.push(kind);
    return h('nav', { class: 'trail', 'aria-label': 'Where this is' },
        h('ol', {}, links.map((link, index) => h('li', { 'aria-current': index === links.length - 1 ? 'page' : null }, link))));
}

const fail = (body) => (error) => {
    if (error.name !== 'AbortError') put(body, h('p', { class: 'fault', role: 'alert' }, ...explain(error)));
};

// The space

function overview(body) {
    const draw = async () => {
        const [collections, streams, spaces] = await Promise.all([
            get(path('collections')), get(path('streams')), get('/v1/spaces')]);
        const rows = collections.map(({ name }) => ({ key: name, cells: [
            h('a', { href: `#/contents/of/${encodeURIComponent(name)}` }, shown(name)), h('span', { 'data-count': name }, '…')] }));
        const space = state.status?.spaces[0];
        put(body,
            h('p', {}, 'The space ', h('strong', {}, 'home'), space
                ? `: ${count(space.objects, 'object')}, ${count(space.events, 'event')}, ${count(space.attachments, 'attachment')}` : '',
            spaces[0].quota === null ? '' : `, ${bytes(spaces[0].usedBytes)} of ${bytes(spaces[0].quota)} for attachments`, '.'),
            h('div', { class: 'columns' },
                h('section', { 'aria-labelledby': 'collections' }, h('h2', { id: 'collections' }, 'Collections'),
                    rows.length ? table('Collections', ['Collection', 'Objects'], rows)
                        : h('p', { class: 'quiet' }, sentence('None yet. Applications write objects; to try: `lanyard put task/milk \'{"title":"milk"}\'`'))),
                h('section', { 'aria-labelledby': 'streams' }, h('h2', { id: 'streams' }, 'Streams of events'),
                    streams.length ? table('Streams', ['Stream', 'Events', 'Last'], streams.map((stream) => ({ key: stream.name, cells: [
                        h('a', { href: `#/contents/stream/${encodeURIComponent(stream.name)}` }, shown(stream.name)),
                        number(stream.events), time(stream.lastEvent)] })))
                        : h('p', { class: 'quiet' }, sentence('None yet. To try: `lanyard emit hello \'{"text":"hi"}\'`'))),
                h('section', { 'aria-labelledby': 'others' }, h('h2', { id: 'others' }, 'More'),
                    h('p', {}, h('a', { href: '#/contents/attachments' }, 'All attachments')),
                    h('p', {}, h('a', { href: '#/contents/deleted' }, 'Deleted objects'), space?.deletedObjects ? ` (${number(space.deletedObjects)})` : ''))));
        for (const { name } of collections) {
            const { count } = await get(`${path('collections', name)}/count`);
            const cell = Array.from(body.querySelectorAll('[data-count]')).find((each) => each.dataset.count === name);
            if (cell) cell.textContent = number(count);
        }
    };
    const redraw = calmly(() => draw().catch(fail(body)), 2000);
    redraw();
    return { changed: redraw };
}

/** Runs work now, and while it is asked for again, once in a while. */
export function calmly(work, pause) {
    let last = -Infinity;
    let timer = null;
    return () => {
        if (timer) return;
        timer = setTimeout(() => {
            timer = null;
            last = performance.now();
            work();
        }, Math.max(0, last + pause - performance.now()));
    };
}

// A collection

const fields = (entry) => [
    h('strong', {}, shown(entry.id)),
    h('span', { class: 'fields' }, Object.entries(entry.fields).slice(0, 6).map(([key, value]) => (
        h('span', {}, h('i', {}, shown(key)), ` ${summary(value, 60)}`)))),
];

const objectAddress = (collection, id) => `#/contents/object/${encodeURIComponent(collection)}/${encodeURIComponent(id)}`;

function collectionView(body, name) {
    const base = path('collections', name);
    const where = h('input', { type: 'search', id: 'where', placeholder: 'done = true and title prefix Milk', autocomplete: 'off', spellcheck: 'false' });
    const order = h('select', { id: 'order' },
        h('option', { value: '' }, 'id'), h('option', { value: 'sort=changed&reverse=true' }, 'changed last'));
    const fault = h('span', { class: 'fault', role: 'alert' });
    const query = () => [where.value.trim() ? `where=${encodeURIComponent(where.value.trim())}` : '', order.value].filter(Boolean).join('&');
    const list = new LongList(`Objects of ${shown(name)}`, (after, limit) => (
        `${base}/objects?limit=${limit}${after === null ? '' : `&after=${encodeURIComponent(after)}`}${query() ? `&${query()}` : ''}`),
    fields, (entry) => objectAddress(name, entry.id));
    const anew = h('button', { type: 'button', hidden: true, click: () => begin() }, 'The list has changed: show it anew');
    async function begin() {
        anew.hidden = true;
        fault.textContent = '';
        try {
            const condition = where.value.trim();
            const { count: total } = await get(`${base}/count${condition ? `?where=${encodeURIComponent(condition)}` : ''}`);
            await list.begin(total);
        } catch (error) {
            fault.textContent = `${error.message} ${error.hint ?? ''}`;
        }
    }
    put(body, h('form', { class: 'tools', role: 'search', submit: (event) => { event.preventDefault(); begin(); } },
        h('label', { for: 'where' }, 'Only where'), where, h('span', { class: 'choice' }, h('label', { for: 'order' }, 'sorted by'), order),
        h('button', { type: 'submit' }, 'Show'), fault), anew, list.element);
    order.addEventListener('change', begin);
    begin();
    const soon = calmly(() => {
        // A short list is simply read again; a long one stays where a person has scrolled to.
        if (list.total <= 1000 && list.box.scrollTop === 0) begin();
        else anew.hidden = false;
    }, 1000);
    return {
        close: () => list.close(),
        changed: (changes) => { if (changes.some((change) => change.collection === name)) soon(); },
    };
}

// Deleted objects

function deletedView(body) {
    const list = new LongList('Deleted objects', (after, limit) => (
        `${path('deleted')}?limit=${limit}${after === null ? '' : `&after=${encodeURIComponent(after)}`}`),
    (entry) => [h('strong', {}, `${shown(entry.collection)}/${shown(entry.id)}`),
        h('span', { class: 'fields' }, 'deleted by ', shown(deviceName(entry.device)), ' ', time(entry.time))],
    (entry) => objectAddress(entry.collection, entry.id));
    put(body, h('p', {}, 'What was deleted stays deleted, on every device. An object leads to what it held.'), list.element);
    const begin = () => list.begin(state.status?.spaces[0].deletedObjects ?? 0);
    begin();
    return { close: () => list.close(), moved: calmly(() => { if (list.all !== state.status.spaces[0].deletedObjects) begin(); }, 1000) };
}

// Attachments

const PICTURES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif', 'image/bmp'];
/** Larger pictures are not shown by themselves. */
const LARGEST = 32 << 20;

/** An attachment: a picture where it is one and is here, and what is known of it. */
export function attachment(entry) {
    const content = `${path('attachments', entry.id)}/content`;
    const isPicture = PICTURES.includes(entry.mediaType) && entry.state === 'present' && entry.size <= LARGEST;
    const size = entry.width && entry.height ? `, ${entry.width} × ${entry.height}` : '';
    const states = { present: '', missing: 'not here', partial: `${Math.floor(entry.progress * 100)} % is here` };
    const isComing = state.status?.transfers.some((transfer) => transfer.hash === entry.hash);
    return h('figure', { 'data-state': entry.state },
        isPicture ? h('a', { href: content, download: entry.fileName }, h('img', { src: content, alt: shown(entry.name), loading: 'lazy' }))
            : h('div', { class: 'file', 'aria-hidden': 'true' }, shown(/\.(\w{1,5})$/.exec(entry.name)?.[1] ?? 'file')),
        h('figcaption', {},
            entry.state === 'present' ? h('a', { href: content, download: entry.fileName }, shown(entry.name || entry.id)) : h('strong', {}, shown(entry.name || entry.id)),
            h('span', { class: 'quiet' }, `${bytes(entry.size)}, ${shown(entry.mediaType)}${size}${entry.pinned ? ', pinned' : ''}`),
            states[entry.state] ? h('span', {}, states[entry.state], isComing ? ', the rest is on its way' : ' ',
                ...isComing ? [] : button('Fetch', () => send('POST', `${path('attachments', entry.id)}/fetch`), { 'aria-label': `Fetch ${shown(entry.name)}` })) : ''));
}

function attachmentsView(body) {
    const MOST = 60;
    const grid = h('div', { class: 'gallery' });
    const rest = h('p', { class: 'quiet' });
    put(body, grid, rest);
    const draw = () => get(`${path('attachments')}?limit=${MOST}`).then((entries) => {
        grid.replaceChildren(...entries.map((entry) => {
            const figure = attachment(entry);
            const slash = entry.owner.indexOf('/');
            figure.querySelector('figcaption').append(h('span', {}, 'of ', h('a', { href: objectAddress(entry.owner.slice(0, slash), entry.owner.slice(slash + 1)) }, shown(entry.owner))));
            return figure;
        }));
        rest.textContent = entries.length === 0 ? 'There is no attachment.' : entries.length < MOST ? '' : `These are the newest ${MOST}; objects show their own.`;
    }).catch(fail(body));
    draw();
    let seen = '';
    return { moved: calmly(() => {
        const space = state.status.spaces[0];
        const now = `${space.attachments} ${space.incomplete} ${state.status.transfers.length}`;
        if (now !== seen) draw();
        seen = now;
    }, 1000) };
}

// A stream

function streamView(body, name) {
    const draw = async () => {
        const { events } = await exactly(`${path('streams', name)}/events?last=100`);
        put(body, h('p', { class: 'quiet' }, events.length === 100 ? 'The newest 100 events.' : count(events.length, 'event')),
            table(`Events of ${shown(name)}`, ['Written', 'By', 'Type', 'Contents'], events.reverse().map((event) => ({
                key: event.dot, cells: [time(event.time), shown(deviceName(event.device)), shown(event.type ?? ''),
                    h('code', { class: 'payload' }, summary(event.payload, 300))] }))));
    };
    let seen = -1;
    const moved = calmly(() => {
        const { events } = state.status?.spaces[0] ?? { events: 0 };
        if (events !== seen) draw().catch(fail(body));
        seen = events;
    }, 500);
    moved();
    return { moved };
}

const views = {
    of: collectionView, object: (body, collection, id) => openObject(body, collection, id), deleted: deletedView,
    attachments: attachmentsView, stream: streamView,
};
