#!/usr/bin/env python3
"""The dashboard on three machines, each with a browser: every answer of the page, a partition, conflicts, a pairing by digits,
hostile names. In a rig of three nodes, as root.

    Tests/browser/dashboard.py [--picture FOLDER] [--keep] [--only STORY]…

Takes the rig that is up (RIG=name), or brings one up and down. Figures are printed; only bounds that the page promises are checked.
"""

import json
import os
import pathlib
import random
import sys
import tempfile
import time

from dashboard_page import CARDS, PORT, Page, apart, collection, exchange, go_home
from rig_nodes import DRIVER_PORT, picture, rig, show, tell
from webdriver import DOWN, ENTER, HOME, TAB

STORIES, story = collection()


# Am I in step, and who is here?


@story("the page says that this device is in step, and with which")
def in_step(one, two, three):
    one.says("In step with all 2 devices.", within=20)
    one.says_what_status_says()
    one.until("the sentence is a good one", "return document.getElementById('sentence').dataset.state === 'good'")
    one.until("all links are good", "return document.querySelectorAll('#chain [data-state=good]').length === 10")
    one.until("both others are in the picture", "return document.querySelectorAll('#mesh .node.level').length === 2")
    one.until("both others are in the table", "return document.querySelectorAll('#peers tbody tr').length === 2")
    for name in ("node2", "node3"):
        one.says(name, element="peers")
    one.says(" ms", element="peers")


@story("a change in one place is told in the others, with its author")
def told(one, two, three):
    begin = time.monotonic()
    two.put("task/milk", title="Milk")
    one.says("node2 changed task/milk", element="feed")
    show("a change of node 2 in the page of node 1 after", f"{(time.monotonic() - begin) * 1000:.0f} ms")
    one.run("lanyard", "delete", "task/milk", "--yes", "--quiet")
    three.says("node1 deleted task/milk", element="feed")
    two.run("lanyard", "emit", "lights", '{"on":true}', "--quiet")
    one.says("1 event in lights", element="feed")


@story("a partition is shown within 16 s, with the broken link, and healed within 2 s")
def partition(one, two, three):
    begin = time.monotonic()
    rig("isolate", "3")
    try:
        one.says("node3 away", within=16)
        three.says("away since", within=16)
        show("seen on both sides after", f"{time.monotonic() - begin:.1f} s")
        one.says("Broken link:", element="cause")
        one.says("The agent tries again by itself", element="cause")
        one.until("the picture shows it", "return document.querySelectorAll('#mesh .node.away').length === 1")
        one.put("task/bread", title="Bread")
        one.says("1 change unsent")
        for node in (one, three):
            node.says_what_status_says()
    finally:
        rig("heal")
    begin = time.monotonic()
    one.says("In step with all 2 devices.", within=30)
    seconds = time.monotonic() - begin
    show("in step again after", f"{seconds:.2f} s")
    # From the moment of the session: how soon that comes is the network's and the agent's affair.
    one.says("node3 is connected", element="feed")
    assert seconds < 2, f"healed after {seconds:.1f} s"


# What needs me?


@story("a conflict is resolved by clicks, for all devices")
def conflict(one, two, three):
    one.put("note/plan", title="Plan", when="Friday")
    one.run("lanyard", "wait", "--quiet")
    apart(
        3, lambda: one.run("lanyard", "edit", "note/plan", "when=Saturday", "--quiet"),
        lambda: three.run("lanyard", "edit", "note/plan", "when=Sunday", "--quiet"))
    for node in (one, three):
        node.until("the conflict is shown", f"return document.querySelectorAll('{CARDS} .sides li').length === 2", within=30)
        assert node.text_of("needed") == "1"
    words = one.text_of("decisions")
    assert "Saturday" in words and "Sunday" in words and "node1" in words and "node3" in words, words
    one.go("#/contents/object/note/plan")
    one.until("the object says that it has a conflict", "return document.querySelector('.note')?.innerText.includes('It has a conflict')")
    one.go("#/")
    one.browser.run(
        "const button = Array.from(document.querySelectorAll('.sides li')).find((each) => each.innerText.includes('Saturday'))"
        ".querySelector('button'); button.focus(); button.click();")
    for node in (one, two, three):
        node.says("Nothing.", element="decisions")
    one.until("the keyboard goes on where the card was", "return document.activeElement.id === 'needs-title'")
    assert json.loads(two.run("lanyard", "get", "note/plan", "--json"))["fields"]["when"] == "Saturday"


@story("edits that a deletion dropped are shown, and a question about an object is answered")
def dropped(one, two, three):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        file.write('{"deletePolicy":"ask"}')
        file.flush()
        pathlib.Path(file.name).chmod(0o644)
        one.run("lanyard", "schema", "set", "memo", file.name, "--quiet")
    for name in ("memo/asked", "note/dropped"):
        one.put(name, title="x")
    one.run("lanyard", "wait", "--quiet")
    apart(
        3, *(lambda name=name: one.run("lanyard", "delete", name, "--yes", "--quiet") for name in ("memo/asked", "note/dropped")),
        *(lambda name=name: three.run("lanyard", "edit", name, "title=y", "--quiet") for name in ("memo/asked", "note/dropped")))
    one.says("Keep or delete memo/asked?", within=30, element="decisions")
    one.says("Edits were dropped: note/dropped", element="decisions")
    one.click_button("Keep it", "#decisions")
    one.click_button("I have seen it", "#decisions")
    one.says("Nothing.", element="decisions")
    assert json.loads(two.run("lanyard", "get", "memo/asked", "--json"))["fields"]["title"] == "y"


# What is on its way, and what is in it?


@story("bytes on their way are shown by piece, and a picture as a picture")
def attachments(one, two, three):
    folder = pathlib.Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    (folder / "lake.png").write_bytes(picture())
    (folder / "large.bin").write_bytes(random.Random(5).randbytes(12 << 20))
    one.put("note/trip", title="Trip")
    # Some twenty seconds for the pieces: the page is looked at while they are on their way.
    rig("link", "1", "--rate", "6")
    try:
        one.run("lanyard", "attach", "note/trip", str(folder / "large.bin"), "--quiet")
        two.says("of 48 pieces", element="transfers", within=20)
        two.until("a bar shows how far it is", "return document.querySelector('#transfers progress')?.max === 48")
        two.says("large.bin has arrived", element="feed", within=120)
    finally:
        rig("link", "1")
    one.run("lanyard", "attach", "note/trip", str(folder / "lake.png"), "--quiet")
    # A line of the feed stays as it is while others come.
    two.says("lake.png was attached to note/trip", element="feed")
    assert "large.bin has arrived" in two.text_of("feed"), two.text_of("feed")
    two.go("#/contents/object/note/trip")
    two.until("the picture is drawn", "return Array.from(document.querySelectorAll('figure img')).some((image) => image.naturalWidth > 0)")
    assert "large.bin" in two.text_of("contents")
    two.go("#/contents/attachments")
    two.until("the attachments are listed", "return document.querySelectorAll('.gallery figure').length === 2")


@story("an object is shown at each of its versions, with the authors of a field")
def object_versions(one, two, three):
    one.run("lanyard", "schema", "set", "note", "body=text", "--quiet")
    one.put("note/diary", title="Diary", body="We went by boat.")
    two.run("lanyard", "wait", "--quiet")
    two.run("lanyard", "edit", "note/diary", "body.insert@11=red ", "--quiet")
    one.go("#/contents/object/note/diary")
    one.until("it is shown as it is", "return document.getElementById('contents').innerText.includes('We went by red boat.')")
    one.until("the slider has both versions", "return document.getElementById('version')?.max === '1'")
    one.browser.run(
        "const slider = document.getElementById('version'); slider.value = 0; slider.dispatchEvent(new Event('input'))")
    one.until("it is shown as it was", "return document.querySelector('dl.object').innerText.includes('We went by boat.')")
    one.browser.run(
        "const slider = document.getElementById('version'); slider.value = 1; slider.dispatchEvent(new Event('input'))")
    one.until("it is shown as it is again", "return document.querySelector('dl.object').innerText.includes('by red boat.')")
    one.browser.click("[data-blame=body]")
    one.until("both authors are named", "return document.querySelectorAll('#blame .legend li').length === 2")
    # What is open follows the object.
    two.run("lanyard", "edit", "note/diary", "title=Logbook", "--quiet")
    one.until("the new title comes by itself", "return document.querySelector('dl.object').innerText.includes('Logbook')")


# Devices and health


@story("a device is blocked and unblocked by its buttons, after a question")
def blocking(one, two, three):
    one.go("#/devices")
    one.until("all three are listed", "return document.querySelectorAll('.device').length === 3")
    assert "node1" in one.text_of("devices") and "by node1" in one.text_of("devices")
    one.click_button("Block node3", "#devices")
    one.browser.click("#question [value=no]")
    assert "blocked" not in one.run("lanyard", "devices")
    one.click_button("Block node3", "#devices")
    one.browser.click("#question-yes")
    one.until("it is blocked", "return document.querySelectorAll('.device[data-state=blocked]').length === 1")
    one.go("#/")
    one.says("node3", element="decisions")
    one.go("#/devices")
    one.click_button("Unblock node3", "#devices")
    one.until("it is back", "return document.querySelectorAll('.device[data-state=connected]').length === 2", within=30)


@story("two devices are paired by digits in two browsers, and wrong digits are none")
def pairing(one, two, three):
    four = Page(int(rig("add").split()[-1]))
    try:
        four.begin()
        for attempt in ("wrong", "right"):
            digits = exchange(one, four)
            if attempt == "wrong":
                false = digits[four][:-1] + str((int(digits[four][-1]) + 1) % 10)
                one.browser.type("#digits", false + ENTER)
                for node in (one, four):
                    node.until("it says that they are wrong", "return document.getElementById('pair-failed')?.textContent.length > 20", within=20)
                    node.until("it says what to do", "return document.querySelector('.pairing').innerText.includes('pair again on both devices')")
                assert "node1" not in four.run("lanyard", "devices")
                continue
            one.browser.type("#digits", digits[four] + ENTER)
            one.until("the first side is confirmed", "return document.getElementById('confirmed')")
            begin = time.monotonic()
            four.browser.type("#digits", digits[one] + ENTER)
            for node, name in ((one, f"node{four.number}"), (four, "node1")):
                node.until("it is paired", "return document.getElementById('paired')?.textContent.includes(arguments[0])", name)
        for node in (one, four):
            node.go("#/")
        one.says("In step with all 3 devices.", within=30)
        show("in step after the last digit", f"{time.monotonic() - begin:.1f} s")
    finally:
        four.end()


@story("a device that was revoked says so, and not that it should be paired")
def revoked(one, two, three):
    guest = Page(int(rig("add").split()[-1]))
    try:
        guest.begin()
        guest.says("No other device is paired with this one.")
        guest.says("Pair a device", element="cause")
        ticket = json.loads(one.run("lanyard", "invite", "--json"))["ticket"]
        guest.run("lanyard", "join", ticket, "--quiet")
        guest.says("In step with", within=30)
        one.run("lanyard", "devices", "revoke", f"node{guest.number}", "--yes", "--quiet")
        guest.says("This device was revoked: it gets and sends nothing.", within=30)
        guest.says_what_status_says()
        guest.says("This device was revoked by node1", element="cause")
        assert "Pair a device" not in guest.text_of("cause"), guest.text_of("cause")
        # It would go on dialling the others.
        rig("stop", str(guest.number))
    finally:
        guest.end()


@story("a hundred thousand objects scroll")
def many(one, two, three, count=100_000):
    lines = "".join(json.dumps({"id": f"m{number:06}", "title": f"Number {number}"}) + "\n" for number in range(count))
    begin = time.monotonic()
    one.run("lanyard", "put", "many", "-", "--quiet", text=lines)
    show(f"{count} objects put", f"{time.monotonic() - begin:.1f} s")
    one.go("#/contents/of/many")
    there = "return Array.from(document.querySelectorAll('.row strong')).some((each) => each.textContent === arguments[0])"
    seconds = one.until("the first is shown", there, "m000000")
    show("the first shown after", f"{seconds * 1000:.0f} ms")
    assert one.browser.run("return document.querySelectorAll('.row').length") < 120
    one.browser.run("document.querySelector('.long').scrollTop = 1e9")
    show("the last shown after", f"{one.until('the last is shown', there, f'm{count - 1:06}', within=60):.1f} s")
    one.browser.run(f"document.querySelector('.long').scrollTop = {count // 2 * 37}")
    show("the middle shown after", f"{one.until('the middle is shown', there, f'm{count // 2:06}', within=30):.1f} s")
    one.browser.run("document.querySelector('.long').focus()")
    for key in (HOME, DOWN, DOWN):
        one.browser.press(key)
    one.until("the keys lead to the third", "return document.querySelector('.row[aria-selected=true] strong')?.textContent === 'm000002'")
    one.browser.press(ENTER)
    one.until("it is opened", "return location.hash === '#/contents/object/many/m000002'")


@story("checks, figures and the log are shown")
def health(one, two, three):
    one.go("#/health")
    one.until("the checks are shown", "return document.querySelectorAll('.checks [data-state=ok]').length >= 5")
    one.until("the log is shown", "return document.querySelectorAll('.log li').length > 3")
    one.browser.type("#log-filter", "agent runs")
    one.until("it is filtered", "return document.querySelectorAll('.log li').length >= 1 && "
              "Array.from(document.querySelectorAll('.log li')).every((each) => each.textContent.includes('The agent runs'))")
    assert "Version" in one.text_of("health")


# Strangers


HOSTILE = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"


@story("names and contents that are HTML or turn the line around are shown as text")
def hostile(one, two, three):
    fields = {"title": HOSTILE, "<b>key</b>": "\u202egnp.exe\u0007", "when": 1}
    two.run("lanyard", "put", f"note/{HOSTILE.replace('/', '')}", json.dumps(fields), "--quiet")
    one.go("#/")
    one.says("onerror", element="feed")
    one.go("#/contents/of/note")
    one.until("it is in the list", "return document.querySelector('.long').innerText.includes('onerror')")
    one.go(f"#/contents/object/note/{HOSTILE.replace('/', '').replace('%', '%25')}")
    one.until("its fields are shown", "return document.querySelector('dl.object')?.innerText.includes('<b>key</b>')")
    shown = one.text_of("contents")
    assert "\\u{202e}gnp.exe\\u{7}" in shown and HOSTILE in shown, shown
    for selector in ("main img[src=x]", "main script", "main b"):
        assert one.browser.run("return document.querySelector(arguments[0]) === null", selector), selector
    assert one.browser.run("return document.title") != "owned"
    one.go("#/")


@story("a page of another origin in the same browser reaches nothing")
def strangers(one, two, three):
    # The driver's own pages are on the same host, at another port.
    one.browser.open(f"http://127.0.0.1:{DRIVER_PORT}/status")
    outcome = one.browser.run_async("""
        const [done, own] = [arguments[1], arguments[0]];
        const attempts = [
            fetch(own + '/v1/version', { credentials: 'include' }),
            fetch(own + '/v1/spaces/home/devices/x/block', { method: 'PUT', credentials: 'include', headers: { 'Lanyard-Dashboard': '1' } }),
            fetch(own + '/v1/version', { credentials: 'include', mode: 'no-cors' }).then((answer) => { if (answer.type === 'opaque') throw Error('opaque'); }),
            new Promise((resolve, reject) => Object.assign(new Image(), { src: own + '/dashboard.css', onload: resolve, onerror: reject })),
        ];
        Promise.allSettled(attempts).then((results) => done(results.map((each) => each.status)));
    """, f"http://127.0.0.1:{PORT}")
    assert outcome == ["rejected"] * 4, outcome
    one.open_page()


@story("one open page costs at most half a percent of a processor")
def idle(one, two, three, seconds=20):
    one.go("#/")
    for node in (one, two, three):
        node.run("lanyard", "wait", "--quiet")
    # The time that passes is the subject.
    time.sleep(5)
    begin = one.processor_seconds()
    time.sleep(seconds)
    open_share = (one.processor_seconds() - begin) / seconds
    show("processor time of the agent with a page open", f"{open_share:.2%}")
    assert open_share <= 0.005, f"{open_share:.2%}"


@story("it works at 360 pixels, by keyboard, in dark and light, and has landmarks")
def sizes(one, two, three, options=None):
    views = {"home": "#/", "contents": "#/contents", "list": "#/contents/of/note", "object": "#/contents/object/note/diary", "devices": "#/devices", "health": "#/health"}
    for width, height in ((360, 740), (900, 1000), (1600, 1000)):
        one.browser.resize(width, height)
        for name, view in views.items():
            one.go(view)
            one.until("nothing stands over the edge", "return document.documentElement.scrollWidth <= innerWidth")
            for scheme in ("light", "dark"):
                one.browser.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
                if options and options.picture:
                    os.makedirs(options.picture, exist_ok=True)
                    one.browser.picture(f"{options.picture}/{name}-{width}-{scheme}.png")
    landmarks = one.browser.run("return ['header', 'nav', 'main', '[role=status]'].map((each) => document.querySelectorAll(each).length > 0)")
    assert landmarks == [True] * 4, landmarks
    unlabelled = one.browser.run(
        "return Array.from(document.querySelectorAll('nav, section, table, input, select')).filter((each) => !each.getAttribute('aria-label')"
        "&& !each.getAttribute('aria-labelledby') && !each.labels?.length).map((each) => each.outerHTML.slice(0, 80))")
    assert unlabelled == [], unlabelled
    one.go("#/")
    one.browser.run("document.activeElement.blur()")
    one.browser.press(TAB)
    assert one.browser.run("return document.activeElement.id") == "skip"
    one.browser.press(ENTER)
    assert one.browser.run("return document.activeElement.id") == "main"


@story("a browser that is signed out is told so")
def signed_out(one, two, three):
    two.run("lanyard", "dashboard", "--sign-out")
    two.says("This browser is signed out", element="connection", within=20)
    two.open_page()
    two.says("In step with all", within=20)


if __name__ == "__main__":
    sys.exit(
        tell(
            STORIES, Page, ("FOLDER", "save pictures of each view at 360, 900 and 1,600 pixels, dark and light"),
            __doc__.splitlines()[0], before=go_home, shown="sizes"))
