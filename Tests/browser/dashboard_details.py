#!/usr/bin/env python3
"""The dashboard on three machines, in more detail than `dashboard.py`: pairings that come to nothing, devices that are let go, what was
deleted, the pace of a backlog, the log, the keyboard alone, and colours that can be read. In a rig of three nodes, as root.

    Tests/browser/dashboard_details.py [--keep] [--only STORY]…

Takes the rig that is up (RIG=name), or brings one up and down.
"""

import json
import pathlib
import random
import re
import sys
import tempfile

from dashboard_page import CARDS, Page, apart, collection, exchange, go_home
from rig_nodes import STATE, rig, show, tell
from webdriver import DOWN, ENTER, LEFT

STORIES, story = collection()
# The machines that were added, by what they are for; they stay until the end.
ADDED = {}


def newcomer(use="guest"):
    """Returns a machine that is not paired, with a browser."""
    if use not in ADDED:
        ADDED[use] = Page(int(rig("add").split()[-1]))
        ADDED[use].begin()
    return ADDED[use]


def pair(one, other):
    """Pairs two devices by their pages."""
    digits = exchange(one, other)
    for page, there in ((one, other), (other, one)):
        page.browser.type("#digits", digits[there] + ENTER)
    for page in (one, other):
        page.says("is paired with this device", element="paired", within=20)


def devices(page):
    return {each["name"]: each["state"] for each in json.loads(page.run("lanyard", "devices", "--json"))}


def fails_with(page, *words, within=20):
    """Waits until a pairing has failed on a page with these words, and the page says how to go on."""
    for text in words:
        page.says(text, element="pair-failed", within=within)
    page.until("it can pair again", "return document.getElementById('pair') !== null && document.getElementById('digits') === null")


# Pairings that come to nothing

EXPIRING = {}


# The number of the device that is let go in the end.
LEFT_AWAY = 0


def leave_away(page):
    """Lets a device in, which goes away before it has all that there is, and returns its number."""
    number = int(rig("add").split()[-1])
    ticket = json.loads(page.run("lanyard", "invite", "--json"))["ticket"]
    rig("exec", str(number), "--", "lanyard", "join", ticket, "--quiet")
    page.run("lanyard", "wait", "--connected", "--peers", "3", "--quiet")
    rig("stop", str(number))
    page.put("note/meanwhile", title="Meanwhile")
    return number


@story("a device that was let in and goes away is said to be away")
def away(one, two, three):
    global LEFT_AWAY
    LEFT_AWAY = leave_away(one)
    one.says(f"node{LEFT_AWAY} was let in by this device", element="feed")
    one.says(f"node{LEFT_AWAY} away", within=20)


@story("two devices whose people type nothing show their digits")
def idle_pairing(one, two, three):
    four = newcomer()
    EXPIRING["digits"] = exchange(three, four)
    for page in (three, four):
        page.until("it says how long it has", (
            "return /The pairing ends by itself in \\d+ (s|min)/.test(document.querySelector('.pairing').innerText)"))


# Contents


@story("a deleted object is listed, and the slider shows what it held")
def deleted(one, two, three):
    one.put("note/letter", title="Dear Anna", body="First words")
    one.run("lanyard", "edit", "note/letter", "body=Better words", "--quiet")
    two.run("lanyard", "wait", "--connected", "--quiet")
    two.run("lanyard", "delete", "note/letter", "--yes", "--quiet")
    one.says("node2 deleted note/letter", element="feed")
    one.go("#/contents")
    one.until("the overview counts it", "return /Deleted objects\\s+\\(1\\)/.test(document.getElementById('contents').innerText)")
    one.browser.click("a[href='#/contents/deleted']")
    one.until("it is listed, with its author", (
        "const row = document.querySelector('.row'); return row?.innerText.includes('note/letter') && row.innerText.includes('deleted by node2')"))
    one.browser.click(".row")
    one.until("it is opened", "return location.hash === '#/contents/object/note/letter'")
    one.until("it is not there any more", "return document.querySelector('#contents .fault')?.textContent.length > 5")
    one.until("all its versions are in the history", "return document.querySelectorAll('.steps > li').length === 3")
    assert one.browser.run("return document.querySelector('.steps > li').innerText.includes('Deleted')")
    assert one.browser.run("return document.getElementById('version').max") == "2"
    one.browser.run("document.getElementById('version').focus()")
    for body, number in (("Better words", 2), ("First words", 1)):
        one.browser.press(LEFT)
        one.until(f"it is shown with {body!r}", (
            "return document.querySelector('dl.object')?.innerText.includes(arguments[0])"), body)
        one.says(f"{number} of 3: by node1", element="version-words")
    assert "Dear Anna" in one.browser.run("return document.querySelector('dl.object').innerText")


@story("the events of a stream are shown, the newest first, and new ones come by themselves")
def stream(one, two, three):
    for state in ("open", "shut"):
        two.run("lanyard", "emit", "doors", json.dumps({"door": state}), "--quiet")
    one.says("in doors", element="feed")
    one.go("#/contents")
    one.until("the stream is listed", "return document.querySelector(\"#contents a[href='#/contents/stream/doors']\") !== null")
    one.browser.click("#contents a[href='#/contents/stream/doors']")

    def rows():
        return one.browser.run("return Array.from(document.querySelectorAll('#contents tbody tr'), (row) => row.innerText)")

    one.until("both are shown", "return document.querySelectorAll('#contents tbody tr').length === 2")
    newest, oldest = rows()
    assert "shut" in newest and "open" in oldest, (newest, oldest)
    assert all("node2" in row for row in (newest, oldest)), (newest, oldest)
    one.run("lanyard", "emit", "doors", '{"door":"ajar"}', "--quiet")
    one.until("the third comes by itself", "return document.querySelectorAll('#contents tbody tr').length === 3")
    assert "ajar" in rows()[0] and "node1" in rows()[0], rows()


# Who is here, and what is on its way?


def cell(page, name, column):
    """What the table of devices says of one of them."""
    return page.browser.run(
        "const row = Array.from(document.querySelectorAll('#peers tbody tr')).find((each) => each.querySelector('th').innerText === arguments[0]);"
        "return row?.querySelector(`[data-label='${arguments[1]}']`)?.innerText ?? ''", name, column)


def until_cell(page, name, column, pattern, within=20):
    page.until(f"{column} of {name} is {pattern!r}, not {cell(page, name, column)!r}", (
        "const row = Array.from(document.querySelectorAll('#peers tbody tr')).find((each) => each.querySelector('th').innerText === arguments[0]);"
        "return new RegExp(arguments[2]).test(row?.querySelector(`[data-label='${arguments[1]}']`)?.innerText ?? '')"),
        name, column, pattern, within=within)
    return cell(page, name, column)


def until_pace(page, other, way):
    """Waits until a page says how fast a backlog becomes less, and when it is over."""
    text = page.browser.until(f"node {page.number}: the backlog has a pace", (
        "return Array.from(document.querySelectorAll('#transfers .moving'), (each) => each.innerText)"
        ".find((each) => each.includes(`${arguments[0]} ${arguments[1]}:`) && /: [0-9,]+\\/s, .* left$/.test(each) && !each.includes('not known'))"),
        way, other, within=30)[0]
    assert re.fullmatch(rf"[\d,]+ {way} {other}: [\d,]+/s, ([\d.]+ [KM]iB/s, )?(less than )?\d+ (s|min) left", text), text
    show(f"node {page.number} says", text)


@story("a backlog over a slow link is shown on both sides, with its pace and the time that is left")
def backlog(one, two, three, count=16000):
    chance = random.Random(3)
    lines = "".join(json.dumps({"id": f"{number:05}", "words": chance.randbytes(60).hex()}) + "\n" for number in range(count))
    # All that node 2 gets comes from node 1, and it is away while that is written: the disk may be slower than the link.
    rig("cut", "2", "3")
    rig("link", "2", "--rate", "1", "--delay", "30")
    rig("stop", "2")
    try:
        one.run("lanyard", "put", "batch", "-", "--quiet", text=lines)
        rig("start", "2")
        two.open_page_again()
        until_cell(one, "node2", "Changes", "^[\\d,]+ to send$")
        until_cell(two, "node1", "Changes", "^[\\d,]+ to come")
        until_pace(two, "node1", "operations to come from")
        until_pace(one, "node2", "changes to send to")
        for page, other in ((one, "node2"), (two, "node1")):
            until_cell(page, other, "Changes", "^in step$", within=120)
            until_cell(page, other, "Last heard", "^now$")
            # The delay counts once in each direction.
            until_cell(page, other, "Round trip", r"^([6-9]\d|\d{3,}) ms$")
    finally:
        rig("link", "2")
        rig("heal")
    for page in (one, two):
        page.until("nothing is on its way", "return document.querySelector('#transfers .moving') === null", within=20)


@story("a device that went away says when it was heard last")
def last_heard(one, two, three):
    rig("isolate", "2")
    try:
        until_cell(one, "node2", "Now", "^away$")
        until_cell(one, "node2", "Last heard", r"^\d+ s ago$")
        assert cell(one, "node2", "Round trip") == ""
    finally:
        rig("heal")
    until_cell(one, "node2", "Last heard", "^now$", within=30)


# Health


@story("the log is shown from a level on")
def levels(one, two, three):
    one.go("#/health")
    one.until("the log is shown", "return document.querySelectorAll('.log li').length > 3")
    seen = "return [...new Set(Array.from(document.querySelectorAll('.log li'), (each) => each.dataset.level))]"
    assert "notice" in one.browser.run(seen)
    rig("avahi", "1", "kill")
    try:
        line = ("return Array.from(document.querySelectorAll('.log li')).some((each) => each.dataset.level === 'warning'"
                " && each.innerText.includes('Discovery is unavailable'))")
        one.until("the log goes on with a warning", line, within=20)
    finally:
        rig("avahi", "1", "start")
    one.browser.run("document.getElementById('log-level').focus()")
    # all, notice, warning
    for _ in range(2):
        one.browser.press(DOWN)
    assert one.browser.run("return document.getElementById('log-level').value") == "warning"
    assert one.browser.run(f"return (() => {{ {line} }})()")
    assert "notice" not in one.browser.run(seen) and "info" not in one.browser.run(seen), one.browser.run(seen)
    one.until("it says how many of all lines they are", (
        "const words = document.querySelector('section[aria-labelledby=log] output').innerText.match(/^(\\d+) of the newest (\\d+) lines$/);"
        "return words && Number(words[1]) === document.querySelectorAll('.log li').length && Number(words[1]) < Number(words[2])"))
    one.browser.press(DOWN)
    one.until("no error is left", "return document.querySelectorAll('.log li').length === 0")


@story("all that is stored is looked at on request, and a damaged attachment is found")
def deep_check(one, two, three):
    folder = pathlib.Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    (folder / "film.bin").write_bytes(random.Random(9).randbytes(3 << 20))
    one.put("note/film", title="Film")
    one.run("lanyard", "attach", "note/film", str(folder / "film.bin"), "--quiet")
    one.go("#/health")

    def checks():
        return one.browser.run("return document.querySelector('.checks')?.innerText ?? ''")

    def look():
        """Has all that is stored read, and returns the answer about attachments."""
        one.click_button("Look at everything stored", "#health")
        one.until("it is done", (
            "const button = Array.from(document.querySelectorAll('#health button')).find((each) => each.textContent === 'Look at everything stored');"
            "return !button.disabled && document.querySelector('.checks')"), within=30)
        return one.browser.run(
            "const check = Array.from(document.querySelectorAll('.checks li')).find((each) => each.innerText.includes('attachments'));"
            "return [check.dataset.state, check.innerText]")

    one.until("the checks are shown", "return document.querySelectorAll('.checks li').length >= 5")
    assert "are what their hashes say" not in checks()
    state, words = look()
    assert state == "ok" and "1 blobs (3.0 MiB) are what their hashes say" in words, words
    assert "all events were read again and give the digest kept" in checks(), checks()
    [blob] = (STATE / "node1/data/blobs").glob("?" * 64)
    with open(blob, "r+b") as file:
        file.seek(1 << 20)
        byte = file.read(1)[0]
        file.seek(1 << 20)
        file.write(bytes([byte ^ 1]))
    state, words = look()
    assert state == "failed" and "1 are not" in words and "fetched again" in words, words
    one.run("lanyard", "wait", "--connected", "--quiet")
    state, words = look()
    assert state == "ok" and "1 blobs" in words, words


# The eyes


CONTRAST = """
    const parse = (text) => { const [r, g, b, a = 1] = text.match(/[\\d.]+/g).map(Number); return [r, g, b, a]; };
    const over = (top, under) => top.slice(0, 3).map((part, index) => part * top[3] + under[index] * (1 - top[3]));
    const light = (color) => color.map((part) => part / 255).map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
        .reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index], 0);
    const ground = (element) => {
        const layers = [];
        for (let each = element; each; each = each.parentElement) layers.unshift(parse(getComputedStyle(each).backgroundColor));
        return layers.reduce((under, top) => over(top, under), [255, 255, 255]);
    };
    const poor = [];
    let count = 0;
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const element = walker.currentNode.parentElement;
        if (!walker.currentNode.data.trim() || !element.checkVisibility({ visibilityProperty: true }) || element.closest(':disabled, .unseen, noscript')) continue;
        const style = getComputedStyle(element);
        const under = ground(element);
        const color = over(parse(element.closest('svg') ? style.fill : style.color), under);
        const [dark, bright] = [light(color), light(under)].sort((one, other) => one - other);
        const ratio = (bright + 0.05) / (dark + 0.05);
        count += 1;
        if (ratio < 4.5) poor.push(`${ratio.toFixed(2)} ${element.tagName} ${element.className} ${walker.currentNode.data.trim().slice(0, 30)}`);
    }
    return { count, poor };
"""


@story("every text stands out from its background by 4.5 to 1, in dark and light")
def contrast(one, two, three):
    one.put("note/gone", title="Gone")
    one.run("lanyard", "delete", "note/gone", "--yes", "--quiet")
    one.run("lanyard", "emit", "doors", '{"door":"open"}', "--quiet")
    one.put("note/party", title="Party", when="Friday")
    one.run("lanyard", "wait", "--connected", "--quiet")
    apart(
        2, lambda: one.run("lanyard", "edit", "note/party", "when=Saturday", "--quiet"),
        lambda: two.run("lanyard", "edit", "note/party", "when=Sunday", "--quiet"))
    one.until("the conflict is shown", f"return document.querySelectorAll('{CARDS} .sides li').length === 2", within=30)
    rig("isolate", "2")
    poor = []
    try:
        one.says("node2 away", within=20)
        views = {
            "#/": "#peers tbody tr", "#/contents": "#contents table", "#/contents/of/note": ".row strong",
            "#/contents/object/note/party": "dl.object dd", "#/contents/deleted": ".row", "#/contents/stream/doors": "#contents tbody tr",
            "#/devices": ".device", "#/health": ".checks li"}
        for view, element in views.items():
            one.go(view)
            one.until(f"{view} is shown", "return document.querySelector(arguments[0]) !== null", element)
            for scheme in ("light", "dark"):
                one.browser.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
                found = one.browser.run(CONTRAST)
                assert found["count"] > 10, (view, scheme, found)
                poor += [f"{view} {scheme}: {each}" for each in found["poor"]]
    finally:
        rig("heal")
        one.browser.command("Emulation.setEmulatedMedia", features=[])
    assert poor == [], "\n".join(poor)
    one.go("#/")
    one.says("note/party", element="decisions", within=20)
    one.click_button("Saturday", "#decisions")
    one.says("Nothing.", element="decisions", within=20)


# Pairings again


@story("a pairing whose time is over ends in a sentence on both sides, and its digits are refused")
def expired(one, two, three):
    if not EXPIRING:
        idle_pairing(one, two, three)
    four = newcomer()
    # However short the stories before this one were.
    fails_with(three, "No pairing within 120 seconds. Nothing was paired.", within=140)
    fails_with(four, "The time to pair is over on node3", "Nothing was paired.")
    for page, other in ((three, four), (four, three)):
        answer = page.browser.run_async(
            "const [digits, done] = arguments;"
            "fetch('/v1/pairing/code', { method: 'PUT', body: JSON.stringify({ code: digits }),"
            "  headers: { 'Lanyard-Dashboard': '1', 'Content-Type': 'application/json' } })"
            ".then((answer) => answer.json()).then((answer) => done(answer.error));", EXPIRING["digits"][other])
        assert answer["code"] == "not_pairing" and answer["message"] == "No pairing runs on this device.", answer
    assert "node3" not in devices(four) and f"node{four.number}" not in devices(three)


@story("a pairing that is cancelled says so on both sides")
def cancelled(one, two, three):
    four = newcomer()
    exchange(one, four)
    one.click_button("Cancel", ".pairing")
    fails_with(one, "Pairing was stopped on this device.")
    fails_with(four, "Pairing was stopped on node1", "Nothing was paired.")
    assert f"node{four.number}" not in devices(one) and "node1" not in devices(four)


@story("the digits of an earlier pairing are wrong in the next one, and both sides say so")
def stale_digits(one, two, three):
    four = newcomer()
    earlier = exchange(one, four)
    four.click_button("Cancel", ".pairing")
    fails_with(one, f"Pairing was stopped on node{four.number}")
    now = exchange(one, four)
    assert now[four] != earlier[four] and now[one] != earlier[one]
    one.browser.type("#digits", earlier[four] + ENTER)
    fails_with(one, f"That is not the code on the screen of node{four.number}", "Nothing was paired.")
    fails_with(four, "A wrong code was typed on node1", "Nothing was paired.")
    for page in (one, four):
        page.until("it says what to do", "return document.querySelector('.pairing').innerText.includes('pair again on both devices')")
    assert f"node{four.number}" not in devices(one) and "node1" not in devices(four)


@story("a conflict is resolved and two devices are paired by keyboard alone")
def keyboard(one, two, three):
    one.put("note/trip", title="Trip", when="Friday")
    one.run("lanyard", "wait", "--connected", "--quiet")
    apart(
        2, lambda: one.run("lanyard", "edit", "note/trip", "when=Saturday", "--quiet"),
        lambda: two.run("lanyard", "edit", "note/trip", "when=Sunday", "--quiet"))
    one.until("the conflict is shown", f"return document.querySelectorAll('{CARDS} .sides li').length === 2", within=30)
    one.tab_to("Saturday", "#decisions")
    one.browser.press(ENTER)
    for page in (one, two):
        page.says("Nothing.", element="decisions")
    assert json.loads(two.run("lanyard", "get", "note/trip", "--json"))["fields"]["when"] == "Saturday"
    four = newcomer()
    for page in (one, four):
        page.tab_to("Devices", "nav")
        page.browser.press(ENTER)
        page.until("the devices are shown", "return document.getElementById('pair') !== null")
        page.tab_to("Pair a device", ".pairing")
        page.browser.press(ENTER)
    digits = {page: page.digits() for page in (one, four)}
    for page, other in ((one, four), (four, one)):
        page.until("the digits can be typed at once", "return document.activeElement.id === 'digits'")
        page.browser.keys(digits[other] + ENTER)
    for page, name in ((one, f"node{four.number}"), (four, "node1")):
        page.says(f"{name} is paired with this device", element="paired", within=20)


# Devices to let go

MONTH = 32 * 86_400_000


@story("a device that was away for a month is let go by a click, after a question that says what happens")
def let_go(one, two, three):
    name = f"node{LEFT_AWAY or leave_away(one)}"
    # The agent asks nothing of a device that is away for less than two minutes. The month passes in the browser.
    one.browser.command(
        "Page.addScriptToEvaluateOnNewDocument", source=f"const now = Date.now; Date.now = () => now.call(Date) + {MONTH};")
    one.open_page()
    card = "#decisions [data-kind=device]"
    one.until("the page asks about it", f"return document.querySelector('{card}')?.innerText.includes(arguments[0])", f"Does {name} come back?", within=150)
    one.until("it says since when", f"return /It was heard .*\\d/.test(document.querySelector('{card}')?.innerText)")
    for view, button, within in (("#/", "Let it go…", card), ("#/devices", f"Let {name} go", "#devices")):
        one.go(view)
        one.click_button(button, within)
        one.says(f"Let {name} go?", element="question-title")
        one.says("No other device waits for it any more. If it comes back, it is admitted again", element="question-text")
        one.browser.click("#question [value=no]")
        one.until("the question is over", "return !document.getElementById('question').open")
        assert devices(one)[name] == "offline", devices(one)
    one.click_button(f"Let {name} go", "#devices")
    one.browser.click("#question-yes")
    one.until("it is listed as retired", (
        "const card = document.querySelector('.device[data-state=retired]');"
        "return card?.innerText.includes(arguments[0]) && !card.innerText.includes('Let it go')"), name, within=20)
    one.go("#/")
    one.until("the page does not ask any more", f"return document.querySelector('{card}') === null", within=20)
    for page in (one, two):
        page.says(f"{name} was retired", element="feed", within=20)
        assert devices(page)[name] == "retired", devices(page)
        page.until("it is not waited for", "return !document.getElementById('sentence').innerText.includes(arguments[0])", name)


def go_home_except_three(nodes):
    """A pairing ends when its page is left, and that of the third machine takes its time."""
    go_home(nodes[:2])


if __name__ == "__main__":
    try:
        status = tell(
            STORIES, Page, ("FOLDER", "not used here"), __doc__.splitlines()[0], before=go_home_except_three)
    finally:
        for page in ADDED.values():
            page.end()
    sys.exit(status)
