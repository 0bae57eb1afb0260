"""The cost of a scrape of metrics: an agent with 50 members and a million changes, some members connected and most away."""
import json
import os
import subprocess
import tempfile
import time

from control import Control, payloads
from ours import emit_lines
from report import percentile
from world import BINARIES, wait_until

CONNECTED = 2
GOAL_MS = 5.0


class Local:
    """An agent of this machine, on the loopback interface, without a rig: 50 of them need no names and no mDNS."""

    def __init__(self, folder, name):
        self.name, self.directory = name, os.path.join(folder, name)
        self.path = os.path.join(self.directory, "control.sock")
        self.log = open(os.path.join(folder, name + ".log"), "w")
        self.process = None

    def start(self):
        self.spawn()
        wait_until(self.is_ready, 20, f"{self.name} is ready", step=0.01)

    def spawn(self):
        self.process = subprocess.Popen(
            [os.path.join(BINARIES, "lanyardd"), "--data-dir", self.directory, "--socket", self.path, "--listen",
             "127.0.0.1:0", "--announce", "127.0.0.1", "--no-mdns", "--name", self.name],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)

    def is_ready(self):
        if self.process.poll() is not None:
            raise RuntimeError(f"{self.name} ended with {self.process.returncode}: {open(self.log.name).read()[-300:]}")
        try:
            control = Control(self.path, timeout=5)
        except OSError:
            return False
        try:
            return control.request("GET", "/readyz")[0] == 200
        except OSError:
            # After an upgrade of its store an agent opens the socket anew.
            return False
        finally:
            control.close()

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            self.process.wait()

    def lanyard(self, *arguments, stdin=None):
        done = subprocess.run(
            [os.path.join(BINARIES, "lanyard"), *arguments], env=dict(os.environ, LANYARD_SOCKET=self.path), input=stdin,
            capture_output=True, text=True, timeout=60)
        if done.returncode != 0:
            raise RuntimeError(f"lanyard {' '.join(arguments)}: {done.stderr.strip()[-300:]}")
        return done.stdout


def admit(one, other):
    """On a busy machine a handshake may take too long: what is measured here is something else, so it is tried again."""
    other.start()
    for remaining in (2, 1, 0):
        try:
            return other.lanyard("join", "-", stdin=json.loads(one.lanyard("invite", "--json"))["ticket"])
        except RuntimeError:
            if not remaining:
                raise


def connected(agent):
    control = Control(agent.path)
    try:
        return sum(peer["state"] == "connected" for peer in control.json("GET", "/v1/peers"))
    finally:
        control.close()


def sample(text, name):
    """The values of a metric."""
    return [float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line.split("{")[0].split(" ")[0] == name]


def scrapes(control, count):
    """(milliseconds of each scrape, the last text)"""
    spans, text = [], b""
    for _ in range(count):
        begun = time.perf_counter()
        status, text = control.request("GET", "/metrics")
        spans.append((time.perf_counter() - begun) * 1e3)
        if status != 200:
            raise RuntimeError(f"GET /metrics: {status} {text[:200]!r}")
    return spans, text.decode()


def measure(report, size):
    peers = size.peers
    with tempfile.TemporaryDirectory(prefix="lanyard-scrape-") as folder:
        os.chmod(folder, 0o700)
        one = Local(folder, "one")
        others = [Local(folder, f"peer{number}") for number in range(peers)]
        try:
            one.start()
            for number, other in enumerate(others):
                admit(one, other)
                # Those that stay come last, and hear of all members while there is little to hear.
                if number < peers - CONNECTED:
                    other.stop()
            report.note(f"{peers} members, {CONNECTED} of them connected; writing {size.events:,} changes")
            control = Control(one.path, timeout=1_800)
            emit_lines(control, "scrape", payloads(size.events))
            text = scrapes(control, 1)[1]
            if sum(sample(text, "lanyard_changes")) < size.events or len(sample(text, "lanyard_peer_connected")) != peers:
                raise RuntimeError("the agent does not hold what is to be measured")
            # While the others take a million changes they have the processor.
            wait_until(lambda: all(value == 0 for value in lag(control)), 1_800, "those connected have all", step=1)
            figures(report, size, control, f"{peers} peers and {size.events:,} changes")
            control.close()
        finally:
            for agent in [one, *others]:
                agent.stop()
                agent.log.close()


def lag(control):
    """The changes that connected peers lack; one that is away has no round trip."""
    text = scrapes(control, 1)[1]
    near = {line.split("{")[1].split("}")[0] for line in text.splitlines()
            if line.startswith("lanyard_peer_round_trip_seconds{")}
    return [float(line.rsplit(" ", 1)[1]) for line in text.splitlines()
            if line.startswith("lanyard_peer_unsent_changes{") and any(labels in line for labels in near)]


def figures(report, size, control, what):
    medians, tails, lengths, busy = [], [], [], []
    for run in range(size.runs + 1):
        # Longer than the figures on the disk are good for: they are counted anew beside some of these.
        spans, text = scrapes(control, 500)
        before = sum(sample(text, "lanyard_process_cpu_seconds_total"))
        after = sum(sample(scrapes(control, 500)[1], "lanyard_process_cpu_seconds_total"))
        if run > 0:
            medians.append(percentile(spans, 50))
            tails.append(percentile(spans, 99))
            lengths.append(len(text) / 1024)
            busy.append((after - before) * 1e3 / 500)
    report.add(f"scrape, {what}, p50", "lanyard", medians, "ms", goal=GOAL_MS)
    report.add(f"scrape, {what}, p99", "lanyard", tails, "ms")
    report.add(f"processor time of a scrape, {what}", "lanyard", busy, "ms", goal=GOAL_MS)
    report.add(f"length of a scrape, {what}", "lanyard", lengths, "KiB")
