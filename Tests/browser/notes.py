#!/usr/bin/env python3
"""Three machines, three browsers, two people in one sentence: the example `notes` in a rig of three nodes, as root.

    Tests/browser/notes.py [--picture FILE] [--keep] [--only STORY]…

Takes the rig that is up (RIG=name), or brings one up and down. Figures are printed; only bounds that no machine should miss
are checked.
"""

import json
import pathlib
import statistics
import sys
import tempfile
import time

from rig_nodes import Node, picture, rig, show, tell, together
from webdriver import BACKSPACE, CONTROL, ENTER, SHIFT

STORIES = []


def story(sentence):
    def keep(function):
        STORIES.append((function.__name__, sentence, function))
        return function

    return keep


def percentile(values, fraction):
    return sorted(values)[min(len(values) - 1, int(len(values) * fraction))]


# Notes that are there already: (text, tags).
EARLIER = [
    ("Books to read\nThe one about tides, A Month in the Country, and the letters.", ["reading"]),
    ("Rye bread, third try\n80 % rye, 20 % wheat, and a longer rise in the cold.", ["kitchen"]),
    ("Garden, autumn\nGarlic in by mid October. Move the two currants to the fence.", ["garden", "summer"]),
    ("Choir\nNew chairs, and who fetches them.", ["choir"]),
    ("Ideas for the shed\nA window to the south. Hooks for the oars.", ["garden", "boat"]),
    ("Ferry times\n8:10, 9:00, 12:30, 18:12", ["boat", "trips"]),
    ("Birthday of Linus\nThe kite, and a book about birds.", []),
]


def put_earlier(node):
    now = int(time.time() * 1000)
    rows = [
        {"body": body, "tags": tags, "edited": {"import": now - 7_000_000 * (number + 1) ** 2}}
        for number, (body, tags) in enumerate(EARLIER)
    ]
    node.run("lanyard", "put", "note", "-", "--quiet", text="".join(json.dumps(row) + "\n" for row in rows))


# Text

BEGINNING = "Weekend on the lake\n\n– Sandwiches, the big thermos\n– Rain jackets, two\n– The long rope\n\n"


@story("a note that is written in one browser is in the others")
def written(one, two, three):
    one.new_note(BEGINNING + "The boat leaves at nine.")
    for tag in ("boat", "summer", "trips"):
        one.browser.type("#tag", tag + ENTER)
    for node in (two, three):
        seconds = node.open_note("Weekend on the lake")
        show(f"in the list of node {node.number} after the last key", f"{seconds * 1000:.0f} ms")
        node.until_text(BEGINNING + "The boat leaves at nine.")
        node.browser.until("the tags are there", "return document.querySelectorAll('#tags .tag').length === 3")


@story("two people type in one sentence at once, and all words are whole")
def one_sentence(one, two, three):
    one.put_caret("boat")
    two.put_caret("nine")
    together(lambda: one.browser.keys("little white ", pause=40), lambda: two.browser.keys("half past ", pause=47))
    whole = BEGINNING + "The little white boat leaves at half past nine."
    for node in (one, two, three):
        node.until_text(whole)
    # At one place: the words stand one behind the other, whichever is first.
    for node in (one, two):
        node.put_caret(None)
    together(lambda: one.browser.keys(" Bring 2 breads.", pause=40), lambda: two.browser.keys(" Bring -1 salt.", pause=43))
    one.browser.until("both sentences are there", "return document.getElementById('text').value.length === arguments[0]", len(whole) + 31)
    end = one.text()
    assert end in (whole + " Bring 2 breads. Bring -1 salt.", whole + " Bring -1 salt. Bring 2 breads."), end
    for node in (two, three):
        node.until_text(end)
    # One replaces a word, the other types beside it.
    one.put_caret("boat")
    two.put_caret("little")
    together(lambda: one.browser.keys(BACKSPACE * 6 + "red ", pause=30), lambda: two.browser.keys("very ", pause=45))
    end = end.replace("little white", "very little red")
    for node in (one, two, three):
        node.until_text(end)


@story("a character that is composed from several keys is left alone until it is done")
def composed(one, two, three):
    one.new_note("Caf")
    two.open_note("Caf")
    one.put_caret(None)
    two.put_caret("Caf")
    one.browser.command("Input.imeSetComposition", text="´", selectionStart=1, selectionEnd=1)
    two.browser.keys("Green ")
    three.open_note("Green Caf")
    # Were the text area touched now, the composition would end.
    assert one.text() == "Caf´", one.text()
    one.browser.command("Input.insertText", text="é")
    one.browser.keys(" 1")
    for node in (one, two, three):
        node.until_text("Green Café 1")
    for node in (one, two, three):
        node.open_note("Weekend on the lake")


@story("undo takes back what this person typed, and leaves what others did")
def undone(one, two, three):
    one.new_note("Ours: end")
    two.open_note("Ours: end")
    one.put_caret("end")
    one.browser.keys("mine ")
    two.until_text("Ours: mine end")
    two.put_caret("mine")
    two.browser.keys("yours ")
    one.until_text("Ours: yours mine end")
    for shift, text in (("", "Ours: yours end"), (SHIFT, "Ours: yours mine end"), ("", "Ours: yours end")):
        one.browser.press(CONTROL + shift + "z")
        for node in (one, two):
            node.until_text(text)
    for node in (one, two):
        node.open_note("Weekend on the lake")


@story("the program, then the agent ends while a person types, and no letter is lost")
def ended(one, two, three):
    one.new_note("Numbers:")
    two.open_note("Numbers:")
    words = "".join(f" {number}" for number in range(90))

    def interrupt():
        one.restart_program()
        rig("kill", "1")
        rig("start", "1")

    together(lambda: one.browser.keys(words, pause=25), interrupt)
    for node in (one, two):
        node.until_text("Numbers:" + words, within=30)
    one.browser.until("all is saved", "return document.getElementById('saved').textContent === ''")
    for node in (one, two):
        node.open_note("Weekend on the lake")


@story("a machine that was alone brings its sentence")
def alone(one, two, three):
    before = one.text()
    rig("isolate", "3")
    try:
        three.put_caret(None)
        three.browser.keys(" We camp at the second cove.", pause=15)
        one.browser.run("const area = document.getElementById('text'); area.focus(); area.setSelectionRange(0, 0)")
        one.browser.keys("Plan: ", pause=15)
        assert "cove" not in one.text() and "Plan" not in three.text()
        seconds = three.browser.until(
            "node 3 says that it is offline", "return /Offline/.test(document.getElementById('standing').textContent)", within=60)[1]
        show("node 3 says that it is offline after", f"{seconds:.1f} s")
    finally:
        rig("heal")
    whole = "Plan: " + before + " We camp at the second cove."
    seconds = max(node.until_text(whole, within=30) for node in (one, two, three))
    show("whole on all three after the network was healed", f"{seconds:.1f} s")
    for node in (one, three):
        node.browser.until(
            "it is in step again", "return /In step with 2 devices/.test(document.getElementById('standing').textContent)", within=15)


# Pictures and the bin


IMAGES = "return Array.from(document.querySelectorAll('#pictures img')).filter((image) => image.naturalWidth > 0).length"


@story("a picture is in the other browsers, and comes back from the bin without being sent again")
def picture_and_bin(one, two, three):
    with tempfile.NamedTemporaryFile(suffix=".png") as file:
        file.write(picture())
        file.flush()
        pathlib.Path(file.name).chmod(0o644)
        one.browser.type("#file", file.name)
        for node in (one, two, three):
            _, seconds = node.browser.until("the picture is shown", IMAGES + " === 1", within=15)
            show(f"the picture in browser {node.number} after", f"{seconds * 1000:.0f} ms")
    received = {node.number: node.metric("blob_received_bytes_total") for node in (two, three)}
    show("bytes of attachments that node 2 received", received[2])
    one.browser.click("#bin")
    for node in (two, three):
        node.browser.until("the note is in the bin", "return document.querySelector('[data-view=bin] output').textContent === '1'")
    one.browser.click("#toast button")
    for node in (two, three):
        node.browser.until("the note is back", "return document.querySelector('[data-view=bin] output').textContent === ''")
        node.browser.until("its picture, too", IMAGES + " === 1")
    one.browser.until("node 1 shows the picture again", IMAGES + " === 1")
    # A single picture that was taken off comes back in the same way.
    one.browser.run("document.querySelector('#pictures .remove').click()")
    two.browser.until("the picture is off", "return document.getElementById('pictures').hidden")
    one.browser.until("undo is offered", "return !document.getElementById('toast').hidden")
    one.browser.click("#toast button")
    two.browser.until("the picture is back", IMAGES + " === 1")
    three.browser.until("the picture is back", IMAGES + " === 1")
    for node in (two, three):
        again = node.metric("blob_received_bytes_total") - received[node.number]
        assert again == 0, f"node {node.number} received {again} bytes again"
    show("bytes received again", 0)


# Presence


@story("a person who types is seen, and is gone when the page is")
def presence(one, two, three, options=None):
    one.name("Ada")
    two.name("Grace")
    one.put_caret("boat")
    one.browser.keys("sailing ", pause=20)
    _, seconds = two.browser.until("node 2 sees Ada typing", "return document.getElementById('people').textContent.includes('Ada is typing')")
    show("Ada is typing, seen after", f"{seconds * 1000:.0f} ms")
    two.browser.until("her caret is drawn", "return document.querySelectorAll('#carets .caret').length >= 1")
    two.put_caret("second")
    two.browser.keys("quiet ", pause=20)
    one.browser.until("node 1 sees Grace typing", "return document.getElementById('people').textContent.includes('Grace')")
    if options and options.picture:
        one.browser.until("both carets are drawn", "return document.querySelectorAll('#carets .caret').length >= 2")
        one.browser.picture(options.picture)
        show("picture", options.picture)
    one.browser.close()
    _, seconds = two.browser.until(
        "Ada is gone", "return !document.getElementById('people').textContent.includes('Ada')", within=15)
    show("gone after the browser was closed", f"{seconds:.2f} s")
    one.open_browser()


# Other sites


@story("requests that are not of the page itself get nothing")
def strangers(one, two, three):
    own = {"Host": "127.0.0.1:8090", "Origin": "http://127.0.0.1:8090", "Content-Type": "application/json"}
    cases = [
        ("GET", "/", {"Host": "127.0.0.1:8090"}, 200),
        ("GET", "/search?id=boat", own, 200),
        ("POST", "/create", own, 200),
        # A name that was bound to this address, another site's page, a form, and a picture in another site's page.
        ("GET", "/", {"Host": "evil.example:8090"}, 403),
        ("GET", "/search?id=boat", {**own, "Origin": "http://evil.example"}, 403),
        ("POST", "/create", {**own, "Origin": "http://evil.example"}, 403),
        ("POST", "/create", {**own, "Origin": "null"}, 403),
        ("POST", "/create", {"Host": "127.0.0.1:8090", "Content-Type": "application/json"}, 403),
        ("POST", "/create", {**own, "Content-Type": "text/plain"}, 415),
        ("GET", "/search?id=boat", {"Host": "127.0.0.1:8090", "Sec-Fetch-Site": "cross-site"}, 403),
        ("GET", "/search?id=boat", {"Host": "127.0.0.1:8090", "Sec-Fetch-Site": "same-site"}, 403),
    ]
    for method, path, headers, wanted in cases:
        status, policy = one.request(method, path, headers, b'{"tags":[]}' if method == "POST" else None)
        assert status == wanted, f"{method} {path} with {headers}: {status}, not {wanted}"
        assert policy.startswith("default-src 'none'"), f"{method} {path}: the policy is {policy!r}"
    # What a note says is text, whatever it looks like.
    one.new_note("<img src=x onerror=alert(1)><b>bold</b>")
    two.open_note("<img src=x onerror=alert(1)><b>bold</b>")


# Figures

WATCH_INPUT = """
    const area = document.getElementById("text");
    window.times = [];
    area.addEventListener("input", () => times.push([area.value.length, performance.timeOrigin + performance.now()]));
"""
WATCH_SHOWN = """
    const area = document.getElementById("text");
    window.times = [];
    new MutationObserver(() => {
        const [length, changed] = [area.value.length, performance.timeOrigin + performance.now()];
        requestAnimationFrame(() => times.push([length, changed, performance.timeOrigin + performance.now()]));
    }).observe(document.getElementById("mirror"), { childList: true });
"""


def measure_letters(one, two, count=300, pause=66):
    one.browser.run(WATCH_INPUT)
    two.browser.run(WATCH_SHOWN)
    one.put_caret(None)
    for _ in range(0, count, 50):
        one.browser.keys("abcde fghi " * 4 + "klmnop", pause=pause)
    two.until_text(one.text())
    typed = one.browser.run("return times")
    shown = two.browser.run("return times")
    assert len(typed) == count, len(typed)
    changes, frames = [], []
    for length, begin in typed:
        # The first time at which that many letters were there.
        changed, frame = next((changed, frame) for there, changed, frame in shown if there >= length)
        changes.append(changed - begin)
        frames.append(frame - begin)
    for name, values in (("in the text area", changes), ("in a frame", frames)):
        show(
            f"{count} letters from browser 1 to browser 2, {name}",
            f"p50 {statistics.median(values):.1f} ms, p99 {percentile(values, 0.99):.1f} ms, most {max(values):.1f} ms")
    assert statistics.median(changes) < 2_000


@story("a letter is soon seen")
def letters(one, two, three):
    one.new_note("Letters ")
    two.open_note("Letters")
    measure_letters(one, two)


@story("ten thousand notes open at once")
def ten_thousand(one, two, three, count=10_000):
    lines = "".join(
        json.dumps({
            "id": f"many-{number}", "body": f"Note {number} of many\n" + "It has a text of some length. " * 12,
            "tags": [f"tag {number % 12}"], "edited": {"import": 1_700_000_000_000 + number},
        }) + "\n" for number in range(count))
    begin = time.monotonic()
    one.run("lanyard", "put", "note", "-", "--quiet", text=lines)
    show(f"{count} notes put", f"{time.monotonic() - begin:.1f} s")
    for node in (one, two):
        node.browser.until(
            "all notes are listed",
            "return Number(document.querySelector('[data-view=notes] output').textContent) >= arguments[0]", count, within=120)
    times = []
    for _ in range(5):
        one.open_page()
        times.append(one.browser.run("return performance.getEntriesByName('list-shown')[0].startTime"))
        one.browser.until(
            "the rest has come",
            "return Number(document.querySelector('[data-view=notes] output').textContent) >= arguments[0]", count)
    show(f"list of {count} notes shown after", ", ".join(f"{taken:.0f} ms" for taken in times))
    show("rows in the document", one.browser.run("return document.querySelectorAll('.row').length"))
    assert min(times) < 2_000
    one.browser.type("#search", "4242 many")
    _, seconds = one.browser.until("it is found", "return document.querySelectorAll('.row').length === 1")
    show("found after the last letter", f"{seconds * 1000:.0f} ms")
    one.browser.run("const field = document.getElementById('search'); field.value = ''; field.dispatchEvent(new Event('input'))")
    one.new_note("Among many ")
    two.open_note("Among many")
    measure_letters(one, two)


if __name__ == "__main__":
    sys.exit(
        tell(
            STORIES, Node, ("FILE", "save a picture of the page with two people in it"), __doc__.splitlines()[0],
            begin=lambda nodes: put_earlier(nodes[0]), shown="presence"))
