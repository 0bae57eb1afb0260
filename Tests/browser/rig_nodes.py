"""Nodes of `deploy/rig` with the program `notes` and a browser in each, spoken to from outside."""

import argparse
import ctypes
import http.client
import math
import os
import pathlib
import random
import re
import socket
import struct
import subprocess
import sys
import threading
import time
import zlib

from webdriver import Browser, WebDriverError

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
RIG = os.environ.get("RIG", "rig")
STATE = pathlib.Path(f"/tmp/lanyard-rig-{RIG}")
DRIVER_PORT = 9515
PAGE = "http://127.0.0.1:8090/"

_libc = ctypes.CDLL(None, use_errno=True)
_CLONE_NEWNET = 0x40000000


def rig(*arguments, text=None):
    done = subprocess.run(
        [str(ROOT / "deploy/rig"), *arguments], input=text, capture_output=True, text=True, env=dict(os.environ, RIG=RIG))
    if done.returncode != 0:
        raise AssertionError(f"deploy/rig {' '.join(arguments)} ended with {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def _enter(network):
    if _libc.setns(network.fileno(), _CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "cannot enter the network of a node: this needs root")


def connection_of(number):
    """A way to open connections in the network of a node: a socket belongs to the network it was made in."""
    pid = (STATE / f"node{number}/pid").read_text().strip()

    def connect(address, timeout=None, source_address=None):
        with open("/proc/thread-self/ns/net") as own, open(f"/proc/{pid}/ns/net") as network:
            _enter(network)
            try:
                return socket.create_connection(address, timeout)
            finally:
                _enter(own)

    return connect


class Node:
    """A machine with an agent, the program and a browser."""

    def __init__(self, number):
        self.number = number
        self.processes = []
        self.browser = None

    def start(self, *command):
        process = subprocess.Popen(
            [str(ROOT / "deploy/rig"), "exec", str(self.number), "--", *command], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, env=dict(os.environ, RIG=RIG))
        self.processes.append(process)
        return process

    def begin(self):
        """Starts the program and a browser, and opens the page."""
        self.program = self.start("notes")
        driver = self.start("chromedriver", f"--port={DRIVER_PORT}")
        self.until_listening(8090, self.program)
        self.until_listening(DRIVER_PORT, driver)
        self.open_browser()

    def until_listening(self, port, process):
        connect = connection_of(self.number)
        end = time.monotonic() + 30
        while True:
            try:
                connect(("127.0.0.1", port), 1).close()
                return
            except OSError:
                if process.poll() is not None or time.monotonic() > end:
                    raise AssertionError(f"nothing listens on port {port} of node {self.number}") from None
                time.sleep(0.02)

    def restart_program(self):
        """Ends the program in the middle of whatever it does, and starts it again."""
        self.processes.remove(self.program)
        self.program.kill()
        self.program.wait()
        self.until_free()
        self.program = self.start("notes")
        self.until_listening(8090, self.program)

    def until_free(self):
        """The end of `deploy/rig exec` ends its command a moment later."""
        connect = connection_of(self.number)
        end = time.monotonic() + 10
        while time.monotonic() < end:
            try:
                connect(("127.0.0.1", 8090), 1).close()
            except OSError:
                return
            time.sleep(0.02)
        raise AssertionError(f"the program on node {self.number} does not end")

    def request(self, method, path, headers, body=None):
        """Returns the status and the Content-Security-Policy of an answer of the program."""
        connection = http.client.HTTPConnection("127.0.0.1", 8090, timeout=10)
        connection._create_connection = connection_of(self.number)
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        answer.read()
        connection.close()
        return answer.status, answer.getheader("Content-Security-Policy", "")

    def open_browser(self):
        self.browser = Browser("127.0.0.1", DRIVER_PORT, connect=connection_of(self.number))
        self.browser.resize(1280, 860)
        self.open_page()

    def open_page(self):
        self.browser.open(PAGE)
        self.browser.until("the list is shown", "return performance.getEntriesByName('list-shown').length > 0", within=20)

    def end(self):
        # A driver that is ended leaves its browser behind.
        if self.browser:
            try:
                self.browser.close()
            except (OSError, http.client.HTTPException, WebDriverError):
                pass
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            process.wait()

    def run(self, *command, text=None):
        return rig("exec", str(self.number), "--", *command, text=text)

    def metric(self, name):
        """A figure of the agent's own metrics."""
        connection = http.client.HTTPConnection("localhost")
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.connect(str(STATE / f"node{self.number}/control.sock"))
        connection.request("GET", "/metrics")
        found = re.search(rf"^lanyard_{name} (\d+)$", connection.getresponse().read().decode(), re.MULTILINE)
        connection.close()
        return int(found.group(1))

    # What a person does and sees

    def name(self, name):
        self.browser.run(
            "const field = document.getElementById('name'); field.value = arguments[0];"
            "field.dispatchEvent(new Event('change'));", name)

    def text(self):
        return self.browser.run("return document.getElementById('text').value")

    def until_text(self, text, within=10.0):
        return self.browser.until(
            f"node {self.number} shows {text!r}, not {self.text()!r}",
            "return document.getElementById('text').value === arguments[0]", text, within=within)[1]

    def new_note(self, text):
        self.browser.click("#new")
        self.browser.until("the note is open", "const area = document.getElementById('text'); return !area.readOnly && area === document.activeElement")
        self.browser.keys(text)

    def open_note(self, title, within=10.0):
        """Chooses a note by its title, and waits until its text is there."""
        seconds = self.browser.until(
            f"node {self.number} lists {title!r}",
            "const row = Array.from(document.querySelectorAll('.row')).find((row) => row.querySelector('strong').textContent === arguments[0]);"
            "row?.click(); return Boolean(row);", title, within=within)[1]
        self.browser.until(
            f"node {self.number} shows {title!r}", "return document.getElementById('text').value.startsWith(arguments[0])", title)
        return seconds

    def put_caret(self, before):
        """Puts the caret before a part of the text; at its end for None."""
        self.browser.run(
            "const area = document.getElementById('text'); area.focus();"
            "const place = arguments[0] === null ? area.value.length : area.value.indexOf(arguments[0]);"
            "area.setSelectionRange(place, place);", before)


def picture(width=480, height=320):
    """A PNG of a lake in the evening. Its grain does not compress, so that sending it shows in the counters."""
    chance = random.Random(7)
    shore, sun, radius = height * 3 // 5, (width * 2 // 3, height * 3 // 8), height // 8
    rows = bytearray()
    for y in range(height):
        rows.append(0)
        for x in range(width):
            hill = shore - 26 - int(22 * math.sin(x / 61) + 12 * math.sin(x / 23 + 1))
            if y >= shore:
                depth = (y - shore) / (height - shore)
                glint = 60 if abs(x - sun[0]) < 26 - 12 * depth and (y // 3) % 2 else 0
                color = (70 - 40 * depth + glint, 110 - 50 * depth + glint, 140 - 50 * depth + glint / 2)
            elif y > hill:
                color = (44, 74, 78)
            elif (x - sun[0]) ** 2 + (y - sun[1]) ** 2 < radius**2:
                color = (255, 236, 190)
            else:
                height_part = y / shore
                color = (116 + 124 * height_part, 150 + 40 * height_part, 190 - 50 * height_part)
            grain = chance.randrange(8)
            rows += bytes(min(255, int(part) + grain) for part in color)

    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(bytes(rows), 6)) + chunk(b"IEND", b"")


def show(name, value):
    print(f"    {name}: {value}", flush=True)


def together(*works):
    """Does several things at once, and raises what one of them raised."""
    faults = []

    def run(work):
        try:
            work()
        except BaseException as fault:
            faults.append(fault)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if faults:
        raise faults[0]


def tell(stories, make_node, picture, description, begin=lambda nodes: None, before=lambda nodes: None, shown=""):
    """Tells stories on three nodes of a rig: a program's main function. Returns the exit status.

    `stories` are (name, sentence, function of the three nodes). `picture` is the name and the help of the option for pictures,
    which the story `shown` is given as `options`. `begin` is called once, `before` ahead of each story.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--picture", metavar=picture[0], help=picture[1])
    parser.add_argument("--keep", action="store_true", help="leave the rig up")
    parser.add_argument("--only", action="append", default=[], metavar="STORY", choices=[name for name, _, _ in stories])
    options = parser.parse_args()
    if os.geteuid() != 0:
        # Entering the network of a node needs root, as deploy/rig does.
        os.execvp("sudo", ["sudo", "env", f"RIG={RIG}", sys.executable, *sys.argv])
    try:
        rig("list")
        is_own = False
    except AssertionError:
        rig("up", "3")
        is_own = not options.keep
    nodes = [make_node(number) for number in (1, 2, 3)]
    failures = count = 0
    try:
        together(*(node.begin for node in nodes))
        begin(nodes)
        for name, sentence, story in stories:
            if options.only and name not in options.only:
                continue
            print(sentence, flush=True)
            count += 1
            try:
                before(nodes)
                story(*nodes, **({"options": options} if name == shown else {}))
            except Exception as fault:
                failures += 1
                print(f"    FAILED: {type(fault).__name__}: {fault}", flush=True)
    finally:
        for node in nodes:
            node.end()
        if is_own:
            rig("down")
    print(f"{count - failures} passed, {failures} failed")
    return 1 if failures else 0
