// Numbers, times and names in words.

const numbers = new Intl.NumberFormat('en');

export const number = (value) => numbers.format(value);

/** `1 change`, `2 changes`. */
export const count = (value, word) => `${number(value)} ${word}${value === 1 ? '' : 's'}`;

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

export function bytes(value) {
    let unit = 0;
    while (value >= 1024 && unit < units.length - 1) {
        value /= 1024;
        unit += 1;
    }
    return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

/** A length of time, in its greatest unit. */
export function length(seconds) {
    if (seconds < 1) return 'less than 1 s';
    if (seconds < 100) return `${Math.round(seconds)} s`;
    if (seconds < 6000) return `${Math.round(seconds / 60)} min`;
    if (seconds < 172800) return `${Math.round(seconds / 3600)} h`;
    return `${Math.round(seconds / 86400)} days`;
}

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const weekday = new Intl.DateTimeFormat('en', { weekday: 'long' });
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' });
const exactly = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeStyle: 'medium' });

/** A moment as its distance, or its day. */
export function age(text, now = Date.now()) {
    const seconds = (now - Date.parse(text)) / 1000;
    if (seconds < -60) return `${length(-seconds)} ahead of this clock`;
    if (seconds < 5) return 'just now';
    if (seconds < 43200) return `${length(seconds)} ago`;
    return moment(text, now);
}

/** A moment as a time of the day, with the day where it is not today. */
export function moment(text, now = Date.now()) {
    const date = new Date(text);
    if (date.toDateString() === new Date(now).toDateString()) return clock.format(date);
    return now - date < 6 * 86400000 ? `${weekday.format(date)} ${clock.format(date)}` : day.format(date);
}

/** The time until a moment. */
export function until(text, now = Date.now()) {
    const seconds = (Date.parse(text) - now) / 1000;
    return seconds <= 0.5 ? 'now' : `in ${length(Math.max(1, seconds))}`;
}

export const exact = (text) => exactly.format(new Date(text));

/**
 * A text from elsewhere on one line, with everything that is no visible character written out: control characters, and those
 * that turn the direction of what stands beside them.
 */
export function shown(text) {
    return String(text).replace(
        /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g,
        (character) => `\\u{${character.codePointAt(0).toString(16)}}`);
}

/** The same for a text of several lines. */
export const shownText = (text) => String(text).split('\n').map((line) => line.split('\t').map(shown).join('\t')).join('\n');

export const shorten = (text, length) => {
    const letters = Array.from(text);
    return letters.length > length ? `${letters.slice(0, length - 1).join('')}…` : text;
};

/** What a device with this role may do. */
export const rights = (role) => ({ reader: 'read', admin: 'read, write and change roles' })[role] ?? 'read and write';
