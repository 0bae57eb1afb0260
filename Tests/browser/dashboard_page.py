"""The page of the dashboard on a machine of the rig, as a person uses it."""

import json
import os
import pathlib
import time

from rig_nodes import DRIVER_PORT, STATE, Node, rig
from webdriver import TAB

PORT = 8384
CARDS = "#decisions [data-kind=conflict]"


def collection():
    """Returns a list of stories, and the decorator that adds a function to it under its sentence."""
    stories = []

    def story(sentence):
        def keep(function):
            stories.append((function.__name__, sentence, function))
            return function

        return keep

    return stories, story


class Page(Node):
    """A machine with an agent that serves a dashboard, and a browser that is signed in to it."""

    def begin(self):
        rig("stop", str(self.number))
        rig("start", str(self.number), "--", "--dashboard", str(PORT))
        driver = self.start("chromedriver", f"--port={DRIVER_PORT}")
        self.until_listening(DRIVER_PORT, driver)
        self.open_browser()

    def open_page(self):
        self.browser.open(self.run("lanyard", "dashboard", "--print", "--quiet").strip())
        self.until("the page is live", "return document.getElementById('sentence').textContent.length > 3")

    def open_page_again(self):
        """Opens the page of an agent that was started a moment ago."""
        end = time.monotonic() + 20
        while True:
            try:
                return self.open_page()
            except AssertionError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.05)

    def until(self, sentence, script, *arguments, within=10.0):
        return self.browser.until(f"node {self.number}: {sentence}", script, *arguments, within=within)[1]

    def go(self, view):
        self.browser.run("location.hash = arguments[0]", view)

    def says(self, text, within=10.0, element="sentence"):
        return self.until(
            f"{element} says {text!r}, not {self.text_of(element)!r}",
            "return document.getElementById(arguments[0])?.innerText.includes(arguments[1])", element, text, within=within)

    def says_what_status_says(self):
        """The agent makes the sentence once, for the page and for the command."""
        line = self.run("lanyard", "status").split("\n")[0]
        self.until(
            f"the page says {line!r} as status does, not {self.text_of('sentence')!r}",
            "return document.getElementById('sentence').textContent === arguments[0]", line)

    def text_of(self, element):
        return self.browser.run("return document.getElementById(arguments[0])?.innerText ?? ''", element)

    def put(self, name, **fields):
        self.run("lanyard", "put", name, json.dumps(fields), "--quiet")

    def click_button(self, words, within="body"):
        """Presses the button with these words, as a person finds it."""
        self.until(f"there is a button {words!r}", (
            "const button = Array.from(document.querySelectorAll(arguments[1] + ' button')).find((each) =>"
            "(each.getAttribute('aria-label') ?? each.textContent).includes(arguments[0]) && !each.disabled);"
            "button?.click(); return Boolean(button);"), words, within)

    def tab_to(self, words, within="body", most=120):
        """Presses Tab until the focus is on what has these words, inside elements that `within` selects."""
        for _ in range(most):
            self.browser.press(TAB)
            if self.browser.run(
                    "const element = document.activeElement;"
                    "return Boolean(element.closest(arguments[1])) && (element.getAttribute('aria-label') ?? element.innerText)"
                    ".includes(arguments[0]);", words, within):
                return
        raise AssertionError(f"node {self.number}: Tab does not lead to {words!r}")

    # A pairing

    def until_pairing(self):
        self.until("it waits, and says what to do at the other", (
            "const words = document.querySelector('.pairing').innerText;"
            "return words.includes('The pairing ends by itself') && words.includes('On the other device, type');"))

    def digits(self):
        self.until("it shows six digits", "return document.getElementById('own-digits')?.textContent.length === 7", within=30)
        return self.text_of("own-digits").replace(" ", "")

    def processor_seconds(self):
        """The processor time of the agent, which is found by its socket."""
        wanted = f"{STATE}/node{self.number}/"
        for entry in pathlib.Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                words = (entry / "cmdline").read_bytes().decode().split("\0")
                if "lanyardd" in words[0] and any(word.startswith(wanted) for word in words):
                    fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
                    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
            except (OSError, IndexError):
                continue
        raise AssertionError(f"the agent of node {self.number} is not found")


def apart(number, *works):
    """Does several things while a node is cut off, and heals the network."""
    rig("isolate", str(number))
    try:
        for work in works:
            work()
    finally:
        rig("heal")


def exchange(one, other):
    """Begins a pairing on two pages, and returns the digits of each."""
    for page in (one, other):
        page.go("#/devices")
    one.click_button("Pair a device", ".pairing")
    one.until_pairing()
    other.click_button("Pair a device", ".pairing")
    return {page: page.digits() for page in (one, other)}


def go_home(nodes):
    for node in nodes:
        node.go("#/")
