// Which view is shown, and whether the agent is there.

import { connection, device, follow, state, when } from '/agent.js';
import { find, h, put } from '/elements.js';
import { showHome } from '/home.js';
import { openContents } from '/contents.js';
import { openDevices } from '/devices.js';
import { openHealth } from '/health.js';
import { shown } from '/words.js';

const views = { home: () => {}, contents: openContents, devices: openDevices, health: openHealth };
let close = null;

/** Shows the view that the address names: `#/contents/of/task`. */
function route() {
    const parts = location.hash.replace(/^#\/?/, '').split('/').map((part) => {
        try { return decodeURIComponent(part); } catch { return part; }
    });
    const name = Object.hasOwn(views, parts[0]) ? parts[0] : 'home';
    for (const element of document.querySelectorAll('[data-page]')) element.hidden = element.dataset.page !== name;
    for (const link of document.querySelectorAll('[data-view]')) {
        if (link.dataset.view === name) link.setAttribute('aria-current', 'page');
        else link.removeAttribute('aria-current');
    }
    close?.();
    close = views[name](find(name), parts.slice(1)) ?? null;
    scrollTo(0, 0);
}

function showConnection() {
    const words = {
        new: 'Connecting…', live: '', asleep: 'Paused while this page is not looked at',
        lost: 'The agent does not answer. Trying again…',
    };
    const element = find('connection');
    element.dataset.state = connection;
    if (connection === 'signed-out') {
        put(element, 'This browser is signed out. Type ', h('code', {}, 'lanyard dashboard'), ' on this device again.');
    } else {
        put(element, words[connection]);
    }
    document.body.classList.toggle('stale', connection === 'lost' || connection === 'signed-out');
}

when(['status'], () => { put(find('device'), shown(state.status.device.name)); });
when(['connection'], showConnection);
showHome();
addEventListener('hashchange', route);
find('skip').addEventListener('click', (event) => {
    event.preventDefault();
    find('main').focus();
});
route();
showConnection();
follow();

// A test looks here.
window.lanyard = { state, device };
