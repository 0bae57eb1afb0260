"""Lanyard's own figures: in a world of two agents that hold little, and in one where the first holds the whole log."""
import os
import signal
import subprocess
import time

import memory
from control import payloads
from latency import Probe
from report import number, percentile
from world import BINARIES, World, wait_until

PAYLOAD_BYTES = 150


class Size:
    def __init__(self, quick):
        self.events = 50_000 if quick else 1_000_000
        self.peers = 10 if quick else 50  # of a scrape
        self.runs = 1 if quick else 3
        self.singles = 200 if quick else 1_000
        self.latencies = 200 if quick else 1_000
        self.idle_seconds = 10 if quick else 60
        self.objects = 10_000 if quick else 100_000
        self.edits = 2_000 if quick else 20_000
        self.large = 64 << 20 if quick else 1 << 30  # bytes of one attachment
        self.small = 1_000 if quick else 10_000  # attachments of 1 KiB
        self.book = 1_000_000 if quick else 10_000_000  # characters
        self.keystrokes = 200 if quick else 1_000
        self.typed_live = 50 if quick else 300
        self.typed_alone = 500 if quick else 3_000
        self.typed_listened = 50 if quick else 1_000


def emit_singles(control, stream, count):
    """Milliseconds per event, each a request and a durable commit of its own."""
    path, spans = f"/v1/spaces/home/streams/{stream}/events", []
    bodies = [b'{"payload":' + line.encode() + b"}" for line in payloads(count)]
    for body in bodies:
        begun = time.perf_counter()
        status, answer = control.request("POST", path, body)
        spans.append((time.perf_counter() - begun) * 1e3)
        if status != 200:
            raise RuntimeError(f"emit: {status} {answer[:200]!r}")
    return spans


def emit_lines(control, stream, lines):
    """Seconds for one upload of lines, the answer (all durable) included."""
    body = ("\n".join(lines) + "\n").encode()
    begun = time.perf_counter()
    status, answer = control.request(
        "POST", f"/v1/spaces/home/streams/{stream}/events", body, "application/x-ndjson")
    if status != 200:
        raise RuntimeError(f"upload: {status} {answer[:200]!r}")
    return time.perf_counter() - begun


def measure_latency(report, world, size):
    probe, medians, tails = Probe(world.control(1), world.control(2)), [], []
    for run in range(size.runs + 1):
        spans = probe.spans(size.latencies)
        if run > 0:
            medians.append(percentile(spans, 50))
            tails.append(percentile(spans, 99))
    probe.close()
    report.add("emit → seen on the other node, p50", "lanyard", medians, "ms", goal=2.0)
    report.add("emit → seen on the other node, p99", "lanyard", tails, "ms", goal=10.0)


def measure_singles(report, world, size):
    control, rates, medians, tails = world.control(1), [], [], []
    for run in range(size.runs + 1):
        spans = emit_singles(control, "singles", size.singles)
        if run > 0:
            rates.append(size.singles / sum(spans) * 1e3)
            medians.append(percentile(spans, 50))
            tails.append(percentile(spans, 99))
    control.close()
    report.add("durable emits one at a time", "lanyard", rates, "events/s")
    report.add("durable emit, p50", "lanyard", medians, "ms")
    report.add("durable emit, p99", "lanyard", tails, "ms")


def measure_idle(report, world, nodes, size, label, goal_kib):
    """Memory after a silence, and what two agents in step say to each other during it. `nodes`: two."""
    wait_until(lambda: world.agree(*nodes), 60, "the nodes agree", 0.1)
    time.sleep(15 if size.idle_seconds >= 60 else 3)  # what trails a write is not idle
    world.count_sessions(*nodes)
    busy = [memory.cpu_milliseconds(world.pid(node)) for node in nodes]
    time.sleep(size.idle_seconds)
    minute = 60 / size.idle_seconds
    traffic = world.session_bytes(nodes[0]) * minute
    busy = [(memory.cpu_milliseconds(world.pid(node)) - before) * minute for node, before in zip(nodes, busy)]
    held = [memory.resident_kib(world.pid(node)) for node in nodes]
    report.add(f"idle, {label}: VmRSS", "lanyard", [rss / 1024 for rss, _ in held], "MiB", goal=goal_kib / 1024)
    report.add(f"idle, {label}: PSS", "lanyard", [pss / 1024 for _, pss in held], "MiB")
    report.add(f"idle, {label}: session bytes a minute and peer", "lanyard", traffic, "bytes", goal=2048)
    report.add(f"idle, {label}: CPU a minute", "lanyard", busy, "ms", goal=10)
    if max(rss for rss, _ in held) > goal_kib:
        fullest = max(zip(held, nodes))[1]
        report.note(f"node {fullest}, {label}: where it is (RSS KiB, private KiB)")
        for kind, rss, private in memory.groups(world.pid(fullest)):
            report.note(f"    {rss:>8,} {private:>8,}  {kind}")
        report.note(f"    threads: {memory.threads(world.pid(fullest))}")


def measure_reconnect(report, world, stays, returns, size, label):
    """IP bytes of all sessions from a restart of one side until two seconds after both are in step."""
    values, spans = [], []
    for _ in range(size.runs):
        world.rig("stop", str(returns))
        wait_until(lambda: not world.connected(stays), 20, "the goodbye was heard", 0.05)
        world.count_sessions(stays, returns)
        world.rig("start", str(returns))
        begun = time.monotonic()
        spans.append((wait_until(lambda: world.connected(stays), 20, "connected again") - begun) * 1e3)
        time.sleep(2)
        values.append(world.session_bytes(stays))
    report.add(f"reconnect, {label}", "lanyard", values, "bytes")
    report.add(f"ready → connected again, {label}", "lanyard", spans, "ms", goal=1000)
    return values


def measure_discovery(report, world, size):
    """Two members that never met; node 1 tells each that the other is one, mDNS where. Start of the second → connected."""
    spans = []
    for run in range(size.runs + 1):
        world.rig("stop", "2")
        newcomer = int(world.rig("add"))
        world.join(newcomer, world.ticket(1))
        wait_until(lambda: "node1" in world.connected(newcomer), 20, "the newcomer is in", 0.05)
        begun = time.monotonic()
        world.rig("start", "2")
        spans.append((wait_until(lambda: f"node{newcomer}" in world.connected(2), 30, "the two met") - begun) * 1e3)
        world.rig("stop", str(newcomer))
    report.add("start → discovered and connected", "lanyard", spans[1:], "ms", goal=1500)


def build_log(report, world, size):
    """The data set, made by the measurement of writing it: a warm-up and the runs, a share of the log each."""
    share, rates = size.events // (size.runs + 1), []
    lines = payloads(size.events, size=PAYLOAD_BYTES)
    control = world.control(1, timeout=600)
    for run in range(size.runs + 1):
        part = lines[run * share:(run + 1) * share]
        seconds = emit_lines(control, "log", part)
        if run > 0:
            rates.append(len(part) / seconds)
    control.close()
    report.add("durable emits in one upload", "lanyard", rates, "events/s")


def measure_catch_up(report, world, size):
    """An empty member gets the whole log: from the command `join` until it holds, durably, what node 1 holds."""
    rates, wire, newcomers = [], [], []
    for run in range(size.runs + 1):
        newcomer = int(world.rig("add"))
        ticket = world.ticket(1)
        wanted = world.home(1)["events"]
        time.sleep(1.5)  # until the newcomer's mDNS records are out, so that they do not count
        before = world.link_bytes(newcomer)
        begun = time.monotonic()
        world.join(newcomer, ticket)
        control = world.control(newcomer)

        def has_all():
            return control.json("GET", "/v1/status?space=home")["spaces"][0]["events"] >= wanted

        done = wait_until(has_all, 600, "the newcomer has all", 0.02)
        control.close()
        # Who is a member goes on being said for a moment; the digests show that the events are the same.
        wait_until(lambda: world.agree(1, newcomer), 10, "both hold the same", 0.02)
        if run > 0:
            rates.append(wanted / (done - begun))
            wire.append((world.link_bytes(newcomer) - before) / wanted)
        newcomers.append(newcomer)
        if run < size.runs:
            world.rig("stop", str(newcomer))
    report.add(f"catch-up of {size.events:,} events", "lanyard", rates, "events/s", goal=150_000, most=False)
    report.add("catch-up, bytes on the wire per event", "lanyard", wire, "bytes", goal=200)
    return newcomers[-1]


def measure_start(report, world, size):
    """The agent of node 1 started with the whole log: process begun → /readyz answers, and a whole `lanyard status`."""
    starts, statuses = [], []
    world.rig("stop", "1")
    for run in range(size.runs + 1):
        data, socket = f"{world.directory(1)}/data", world.socket(1)
        begun = time.monotonic()
        process = subprocess.Popen(
            world.inside(1, "setpriv", "--pdeathsig", "TERM", "--", os.path.join(BINARIES, "lanyardd"), "--data-dir", data,
                         "--socket", socket, "--name", "node1"),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            done = wait_until(lambda: is_ready(world), 30, "/readyz answers", 0.001)
            if run > 0:
                starts.append((done - begun) * 1e3)
            for _ in range(5):
                begun = time.monotonic()
                world.lanyard(1, "status")
                statuses.append((time.monotonic() - begun) * 1e3)
        finally:
            process.send_signal(signal.SIGKILL)  # nsenter; the agent hears SIGTERM by its parent's death
            process.wait()
            wait_until(lambda: not os.path.exists(socket), 10, "the agent stopped", 0.01)
    world.rig("start", "1")
    events = f"{number(size.events)} events"
    report.add(f"start with {events} → /readyz", "lanyard", starts, "ms", goal=300)
    report.add(f"`lanyard status` with {events}, whole process", "lanyard", statuses, "ms", goal=50)


def is_ready(world):
    try:
        control = world.control(1)
    except OSError:
        return False
    try:
        return control.request("GET", "/readyz")[0] == 200
    except OSError:
        return False
    finally:
        control.close()


def small_world(report, names, size):
    with World("bencha", 2) as world:
        if "memory" in names:
            measure_idle(report, world, (1, 2), size, "empty", 30 * 1024)
        if "traffic" in names:
            control = world.control(1)
            emit_singles(control, "few", 100)
            control.close()
            wait_until(lambda: world.agree(1, 2), 20, "the nodes agree", 0.05)
            measure_reconnect(report, world, 1, 2, size, "100 events")
        if "discovery" in names:
            measure_discovery(report, world, size)


def latency(report, size):
    with World("benchl", 2) as world:
        measure_latency(report, world, size)


def emit(report, size):
    with World("benche", 1) as world:
        measure_singles(report, world, size)


def full_world(report, names, size):
    with World("benchb", 1) as world:
        build_log(report, world, size)
        if {"catchup", "memory", "traffic"} & names:
            other = measure_catch_up(report, world, size)
            events = f"{number(size.events)} events"
            if "memory" in names:
                measure_idle(report, world, (1, other), size, events, 60 * 1024)
            if "traffic" in names:
                measure_reconnect(report, world, 1, other, size, events)
            world.rig("stop", str(other))
        if "start" in names:
            measure_start(report, world, size)
