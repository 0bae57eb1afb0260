// Health: the agent's own checks, its log, versions and figures.

import { deviceName, get, lines, state, when } from '/agent.js';
import { calmly } from '/contents.js';
import { button, h, put, sentence, table, time } from '/elements.js';
import { bytes, count, length, number, shown } from '/words.js';

const LINES = 1000;

let view = null;

export function openHealth(holder) {
    const checks = h('div', { 'aria-live': 'polite' });
    const figures = h('div', {});
    const log = h('ol', { class: 'log', tabindex: 0, 'aria-label': 'Lines of the log, newest first' });
    const filter = h('input', { type: 'search', id: 'log-filter', placeholder: 'words', autocomplete: 'off', spellcheck: 'false' });
    const level = h('select', { id: 'log-level' }, ['all', 'notice', 'warning', 'error'].map((each) => h('option', {}, each)));
    const found = h('output', { class: 'quiet' });
    holder.replaceChildren(h('h1', {}, 'Health'),
        h('section', { 'aria-labelledby': 'doctor' }, h('h2', { id: 'doctor' }, 'Checks'),
            h('p', { class: 'buttons' }, ...button('Check again', () => check(checks)),
                ...button('Look at everything stored', () => checkDeeply(checks))), checks),
        h('section', { 'aria-labelledby': 'figures' }, h('h2', { id: 'figures' }, 'Figures and versions'), figures),
        h('section', { 'aria-labelledby': 'log' }, h('h2', { id: 'log' }, 'Log'),
            h('form', { class: 'tools', role: 'search', submit: (event) => event.preventDefault() },
                h('label', { for: 'log-filter' }, 'Only with'), filter, h('span', { class: 'choice' }, h('label', { for: 'log-level' }, 'from level'), level), found), log));
    view = { figures, log, filter, level, found, lines: [] };
    filter.addEventListener('input', showLog);
    level.addEventListener('change', showLog);
    check(checks).catch((error) => put(checks, h('p', { class: 'fault' }, error.message)));
    showFigures();
    readLog();
    return () => { view = null; };
}

// The log grows with what happens; that is when it is read again.
const readLog = calmly(async () => {
    if (!view) return;
    try {
        view.lines = (await get(`/v1/logs?limit=${LINES}`)).lines;
        showLog();
    } catch { /* The top of the page says it. */ }
}, 2000);

when(['status', 'why', 'peers'], () => {
    if (!view) return;
    showFigures();
    readLog();
});

// Checks

const signs = { ok: '✓', warning: '!', failed: '✕', skipped: '–' };

function showChecks(holder, checks) {
    put(holder, h('ul', { class: 'checks' }, checks.map((check) => h('li', { 'data-state': check.state },
        h('span', { class: 'sign', 'aria-hidden': 'true' }, signs[check.state] ?? '?'),
        h('span', { class: 'unseen' }, `${check.state}: `),
        h('strong', {}, shown(check.check.replaceAll('_', ' '))), ' ', shown(check.detail),
        check.state !== 'ok' && check.hint ? h('span', { class: 'hint' }, ' ', sentence(shown(check.hint))) : ''))),
    h('p', { class: 'quiet' }, sentence('`lanyard doctor` also makes the checks that the agent cannot make for itself.')));
}

const check = async (holder) => showChecks(holder, await get('/v1/doctor'));

async function checkDeeply(holder) {
    put(holder, h('p', { class: 'quiet' }, 'Reading all that is stored…'));
    await lines('GET', '/v1/doctor?deep=true', undefined, (line) => {
        if (line.progress) put(holder, h('p', { class: 'quiet' }, `${bytes(line.progress.doneBytes)} of ${bytes(line.progress.totalBytes)} looked at`));
        if (line.result) showChecks(holder, line.result);
        if (line.error) put(holder, h('p', { class: 'fault' }, `${line.error.message} ${line.error.hint}`));
    });
}

// Figures

function showFigures() {
    if (!view || !state.status) return;
    const { status } = state;
    const space = status.spaces[0];
    const row = (label, ...value) => [h('dt', {}, label), h('dd', {}, ...value)];
    const discovery = { running: 'mDNS runs', unavailable: 'mDNS is away', off: 'mDNS is off' }[status.discovery.state];
    const back = space.stable.heldBackBy.map((member) => shown(member.name)).join(', ');
    put(view.figures, h('div', { class: 'columns' }, h('dl', { class: 'figures' },
        row('Agent', `lanyard ${shown(status.version)}, up ${length(Math.floor(status.uptimeSeconds / 60) * 60 || 30)}`),
        row('Search for others', discovery),
        row('Changes in the log', number(space.changes), space.droppedChanges ? `, and ${number(space.droppedChanges)} dropped, since every device has them` : ''),
        row('Objects', `${number(space.objects)}, and ${count(space.deletedObjects, 'deletion')}`),
        row('Events', number(space.events)),
        row('Attachments', number(space.attachments), space.incomplete
            ? `, of which ${number(space.incomplete)} ${space.incomplete === 1 ? 'is' : 'are'} not here yet` : ''),
        row('Database', `${bytes(status.store.bytes)}, ${status.store.state === 'ok' ? 'takes writes' : shown(status.store.state)}`),
        state.disk ? row('Disk', `${bytes(state.disk.freeBytes)} of ${bytes(state.disk.totalBytes)} free`) : [],
        row('Waits for', back ? `${back} to confirm; deletions are kept until then` : 'no device: none is late to confirm what it has'),
        row('Digest', h('code', {}, space.digest.slice(0, 16)), ' ', h('span', { class: 'quiet' }, 'equal on devices that are in step'))),
    versions()));
}

function versions() {
    const all = state.versions ?? [];
    const isMixed = new Set(all.map((each) => each.version)).size > 1;
    return h('div', {}, table('Versions', ['Device', 'Version'], all.map((each) => ({
        key: each.id, cells: [shown(deviceName(each.id)), shown(each.version)] }))),
    isMixed ? h('p', { class: 'hint' }, 'The versions differ. That works; what one of them does not know is left out between them.') : '');
}

// The log

const LEVELS = ['trace', 'debug', 'info', 'notice', 'warning', 'error', 'critical'];

/** The level of a line, in either format; `info` where it does not say. */
function levelOf(line) {
    const word = line.match(/"level":"(\w+)"/)?.[1] ?? line.split(/\s+/, 3)[1];
    return LEVELS.includes(word?.toLowerCase()) ? word.toLowerCase() : 'info';
}

function showLog() {
    if (!view) return;
    const words = view.filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const least = view.level.value === 'all' ? 0 : LEVELS.indexOf(view.level.value);
    const chosen = view.lines.filter((line) => {
        const small = line.toLowerCase();
        return LEVELS.indexOf(levelOf(line)) >= least && words.every((word) => small.includes(word));
    });
    view.found.textContent = `${number(chosen.length)} of the newest ${number(view.lines.length)} lines`;
    put(view.log, ...chosen.slice(-300).reverse().map((line) => h('li', { 'data-level': levelOf(line) }, shown(line))));
}
