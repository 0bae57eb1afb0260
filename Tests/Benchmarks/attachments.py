"""Figures of attachments: one large file and many small ones, beside what else brings files to another machine."""
import json
import os
import queue
import secrets
import shutil
import subprocess
import tempfile
import threading
import time

import memory
import shippers
from latency import Probe
from objects import upload
from report import percentile
from world import BINARIES, World, wait_until

SPACE = "/v1/spaces/home"
LIST = f"{SPACE}/attachments"
MEBI = 1 << 20
SMALL_BYTES = 1024
SMALL_OBJECTS = 100
SMALL_CONNECTIONS = 8


def measure(report, size):
    # What two nodes are given in `measure_large`, once each, and two files beside it.
    need_room(size.large * (2 * (2 * size.runs + 1) + 2))
    with tempfile.TemporaryDirectory(prefix="lanyard-bench-") as folder:
        baselines = measure_baselines(report, size, folder)
        copy_durably(report, size, folder)
        write_small_durably(report, size, folder)
        with World("bencht", 2) as world:
            measure_refusal(report, world, folder)
            measure_small(report, world, size)
        # A world of its own for each: nothing that was attached goes before it ends.
        with World("bencht", 2) as world:
            measure_large(report, world, size, folder, baselines)
        with World("bencht", 2) as world:
            measure_changes_meanwhile(report, world, size, folder)


def measure_huge(report, size):
    """Ten gibibytes without a block on the disk they come from, and with all of them where they go."""
    count = 10 << 30
    need_room(2 * count)
    with tempfile.TemporaryDirectory(prefix="lanyard-bench-") as folder, World("bencht", 2) as world:
        file = f"{folder}/huge"
        with open(file, "wb") as sparse:
            sparse.truncate(count)
        objects(world, ["huge/a"])
        watch = MemoryWatch(world)
        begun = time.monotonic()
        attached = attach(world, "huge/a", file)
        report.add("10 GiB attached, durable", "lanyard", count / MEBI / (time.monotonic() - begun), "MiB/s")
        seconds = wait_until(lambda: is_present(world, attached), 3600, "the other node has 10 GiB", 0.1) - begun
        report.add("10 GiB attached → readable on the other node", "lanyard", count / MEBI / seconds, "MiB/s")
        watch.report(report, "while 10 GiB travel")


def need_room(byte_count):
    """Before anything is made."""
    byte_count += 2 << 30
    free = shutil.disk_usage(tempfile.gettempdir()).free
    if free < byte_count:
        raise RuntimeError(f"needs {byte_count >> 30} GiB in {tempfile.gettempdir()}, and {free >> 30} are free")


def write_noise(path, byte_count):
    """Bytes that repeat nowhere: no store keeps them once, and nothing packs them."""
    with open(path, "wb") as file:
        while byte_count > 0:
            byte_count -= file.write(secrets.token_bytes(min(byte_count, 4 * MEBI)))


def settle():
    """What was written before is on the disk, so that nobody pays for somebody else's bytes."""
    os.sync()


# What others take


def measure_baselines(report, size, folder):
    """{system: MiB/s of the large file}. One world for all, whose agents are off."""
    rates = {}
    with World("bencht", 2, "--no-pair", "--no-mdns") as world:
        for node in ("1", "2"):
            world.rig("stop", node)
        for shipper in (shippers.Pipe, shippers.TLSPipe, shippers.Rsync, shippers.DurableRsync, shippers.Syncthing):
            if not shipper.is_here():
                report.skip(shipper.name, f"{shipper.package} is not installed")
                continue
            source, target = f"{folder}/source", f"{folder}/target"
            os.mkdir(source), os.mkdir(target)
            with shipper(world, source, target) as running:
                rates[shipper.name] = ship_large(report, running, size, source, target)
                ship_small(report, running, size, source, target)
            shutil.rmtree(source), shutil.rmtree(target)
    return rates


def ship_large(report, shipper, size, source, target):
    rates, wholes = [], []
    for run in range(size.runs + 1):
        write_noise(f"{source}/large", size.large)
        settle()
        seconds = shipper.ship(1, size.large)
        # Syncthing looks at the file when it is told to, and ours when it is attached: that is another figure.
        looking = getattr(shipper, "scan_seconds", 0)
        if run > 0:
            rates.append(size.large / MEBI / (seconds - looking))
            wholes.append(size.large / MEBI / seconds)
        clear(shipper, source, target)
    report.add(transferred(size), shipper.name, rates, "MiB/s", note="after its scan" if looking else "")
    if looking:
        report.add(end_to_end(size), shipper.name, wholes, "MiB/s")
    return sorted(rates)[len(rates) // 2]


def ship_small(report, shipper, size, source, target):
    rates = []
    for run in range(size.runs + 1):
        for number in range(size.small):
            write_noise(f"{source}/{number:05}.bin", SMALL_BYTES)
        settle()
        seconds = shipper.ship(size.small, size.small * SMALL_BYTES) - getattr(shipper, "scan_seconds", 0)
        if run > 0:
            rates.append(size.small / seconds)
        clear(shipper, source, target)
    report.add(small_transferred(size), shipper.name, rates, "files/s")


def clear(shipper, source, target):
    for file in os.scandir(source):
        os.remove(file.path)
    if hasattr(shipper, "forget"):
        shipper.forget()
    else:
        for file in os.scandir(target):
            os.remove(file.path)


def transferred(size):
    return f"{size.large // MEBI:,} MiB to the other node"


def end_to_end(size):
    return f"{size.large // MEBI:,} MiB attached → readable on the other node"


def small_transferred(size):
    return f"{size.small:,} files of 1 KiB to the other node"


# Ours


class MemoryWatch:
    def __init__(self, world):
        self.pids = [world.pid(node) for node in range(1, world.nodes + 1)]
        for pid in self.pids:
            memory.forget_peak(pid)
        self.before = [memory.resident_kib(pid)[0] for pid in self.pids]

    def report(self, report, when):
        growth = [(memory.peak_kib(pid) - before) / 1024 for pid, before in zip(self.pids, self.before)]
        report.add(f"memory, growth at most, {when}", "lanyard", max(growth), "MiB", goal=16)


def objects(world, names):
    control, by_collection = world.control(1), {}
    for name in names:
        collection, identifier = name.split("/")
        by_collection.setdefault(collection, []).append((identifier, {}))
    for collection, rows in by_collection.items():
        upload(control, collection, rows)
    control.close()


def attach(world, owner, file):
    """The record, as the command prints it."""
    done = run_lanyard(world, 1, "attach", owner, file, "--json")
    if done.returncode != 0:
        raise RuntimeError(f"attach: {done.stderr.strip()[-300:]}")
    return json.loads(done.stdout)


def run_lanyard(world, node, *arguments):
    return subprocess.run(
        [f"{BINARIES}/lanyard", *arguments], env=dict(os.environ, LANYARD_SOCKET=world.socket(node)), text=True,
        stdin=subprocess.DEVNULL, capture_output=True, timeout=3600)


def set_space(world, node, **settings):
    control = world.control(node)
    control.json("PUT", SPACE, settings)
    control.close()


def fetch_all(world):
    set_space(world, 2, fetch={"policy": "all", "size": None})


def fetch_nothing(world):
    set_space(world, 2, fetch={"policy": "on-demand", "size": None})


def is_present(world, attached, control=None):
    asked = control or world.control(2)
    try:
        status, body = asked.request("GET", f"{LIST}/{attached['id']}")
        return status == 200 and json.loads(body)["state"] == "present"
    finally:
        if control is None:
            asked.close()


def measure_large(report, world, size, folder, baselines):
    """Fetched by a node that knows the record and has none of the bytes: hashed, durable and readable when it counts."""
    file, attachings, transfers, wholes = f"{folder}/large", [], [], []
    objects(world, [f"film/{run}" for run in range(2 * size.runs + 1)])
    watch = None
    for run in range(2 * size.runs + 1):
        # By turns: fetched afterwards, which is what others are compared with, and fetched as it is attached.
        at_once = run % 2 == 0
        if run == 1:
            watch = MemoryWatch(world)  # after the warm-up
        (fetch_all if at_once else fetch_nothing)(world)
        write_noise(file, size.large)
        settle()
        begun = time.monotonic()
        attached = attach(world, f"film/{run}", file)
        took = time.monotonic() - begun
        control = world.control(2)
        if not at_once:
            wait_until(lambda: world.agree(1, 2), 60, "the record is there", 0.01)
            settle()
            begun = time.monotonic()
            fetch_all(world)
        done = wait_until(lambda: is_present(world, attached, control), 900, "the bytes are there", 0.005)
        seconds = done - begun
        control.close()
        if run > 0:
            (wholes if at_once else transfers).append(size.large / MEBI / seconds)
            attachings.append(size.large / MEBI / took)
        check_content(world, attached, file)
        # Its bytes stay for the grace period: room was asked for.
        os.remove(file)
    watch.report(report, f"while {size.large // MEBI:,} MiB travel")
    rsync = baselines.get(shippers.Rsync.name)
    report.add(transferred(size), "lanyard", transfers, "MiB/s", goal=rsync and 1.2 * rsync, most=False,
               note="goal: 1.2 times rsync over plain TCP")
    report.add(end_to_end(size), "lanyard", wholes, "MiB/s")
    report.add(f"{size.large // MEBI:,} MiB attached, durable", "lanyard", attachings, "MiB/s")


def check_content(world, attached, file):
    """What is read on the other node is what was attached."""
    reading = subprocess.Popen(
        [f"{BINARIES}/lanyard", "fetch", attached["id"], "-o", "-"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        env=dict(os.environ, LANYARD_SOCKET=world.socket(2)))
    same = subprocess.run(["cmp", "--silent", file, "-"], stdin=reading.stdout).returncode == 0
    reading.stdout.close()
    if reading.wait() != 0 or not same:
        raise RuntimeError("the other node reads something else than what was attached")


def copy_durably(report, size, folder):
    rates = []
    for run in range(size.runs + 1):
        write_noise(f"{folder}/large", size.large)
        settle()
        begun = time.monotonic()
        subprocess.run(["sh", "-c", f"cp {folder}/large {folder}/copy && sync {folder}/copy"], check=True)
        if run > 0:
            rates.append(size.large / MEBI / (time.monotonic() - begun))
        os.remove(f"{folder}/large"), os.remove(f"{folder}/copy")
    report.add(f"{size.large // MEBI:,} MiB attached, durable", "cp and sync", rates, "MiB/s")


def measure_small(report, world, size):
    """Attached each by a request of its own; then the other node, which has all records, is told to fetch."""
    attaching, transfers = [], []
    for run in range(size.runs + 1):
        count = size.small if run else size.small // 10
        fetch_nothing(world)
        owners = [f"small{run}/{number}" for number in range(SMALL_OBJECTS)]
        objects(world, owners)
        wait_until(lambda: world.agree(1, 2), 60, "the objects are there", 0.01)
        seconds = attach_small(world, owners, count)
        wait_until(lambda: world.agree(1, 2), 120, "the records are there", 0.01)
        settle()
        control = world.control(2)
        begun = time.monotonic()
        fetch_all(world)
        done = wait_until(lambda: has_nothing_missing(control), 300, "all bytes are there", 0.005)
        control.close()
        expect_all_present(world, f"small{run}/", count)
        if run > 0:
            attaching.append(count / seconds)
            transfers.append(count / (done - begun))
    report.add(small_transferred(size), "lanyard", transfers, "files/s", goal=10_000, most=False)
    report.add(f"{size.small:,} attached, each durable", "lanyard", attaching, "files/s")


def attach_small(world, owners, count):
    """Seconds until the last is acknowledged. Several connections, each a request after the other."""
    waiting, failures = queue.SimpleQueue(), []
    for number in range(count):
        collection, identifier = owners[number % len(owners)].split("/")
        waiting.put((f"{SPACE}/collections/{collection}/objects/{identifier}/attachments?name={number:05}.bin",
                     secrets.token_bytes(SMALL_BYTES)))

    def work():
        control = world.control(1)
        try:
            while not failures:
                path, body = waiting.get_nowait()
                status, answer = control.request("POST", path, body, "application/octet-stream")
                if status != 200:
                    failures.append(f"{status} {answer[:200]!r}")
        except queue.Empty:
            pass
        except Exception as error:
            failures.append(str(error))
        finally:
            control.close()

    threads = [threading.Thread(target=work) for _ in range(SMALL_CONNECTIONS)]
    begun = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise RuntimeError(f"attach: {failures[0]}")
    return time.monotonic() - begun


def has_nothing_missing(control):
    return control.json("GET", "/v1/status?space=home")["spaces"][0]["incomplete"] == 0


def expect_all_present(world, owner, count):
    control = world.control(2)
    rows = [json.loads(line) for line in control.follow(LIST)]
    control.close()
    present = sum(1 for row in rows if row["owner"].startswith(owner) and row["state"] == "present")
    if present != count:
        raise RuntimeError(f"{present} of {count} are present on node 2, which says that nothing is missing")


def write_small_durably(report, size, folder):
    """What a program does that keeps its files itself."""
    rates = []
    for run in range(size.runs + 1):
        bodies = [secrets.token_bytes(SMALL_BYTES) for _ in range(size.small)]
        with tempfile.TemporaryDirectory(dir=folder) as target:
            begun = time.monotonic()
            for number, body in enumerate(bodies):
                with open(f"{target}/{number}", "wb", buffering=0) as file:
                    file.write(body)
                    os.fsync(file.fileno())
            if run > 0:
                rates.append(size.small / (time.monotonic() - begun))
    report.add(f"{size.small:,} attached, each durable", "files written and synced, one at a time", rates, "files/s")


def measure_changes_meanwhile(report, world, size, folder):
    """Small changes beside a large file that goes the same way. Only those that it did go beside count."""
    idle, busy = {50: [], 99: []}, {50: [], 99: []}
    file = f"{folder}/large"
    objects(world, [f"meanwhile/{run}" for run in range(size.runs)])
    probe, control = Probe(world.control(1), world.control(2)), world.control(2)
    probe.spans(size.latencies)
    for run in range(size.runs):
        fetch_nothing(world)
        write_noise(file, size.large)
        attached = attach(world, f"meanwhile/{run}", file)
        wait_until(lambda: world.agree(1, 2), 60, "the record is there", 0.01)
        settle()
        add_percentiles(idle, probe.spans(size.latencies))
        fetch_all(world)
        spans = []
        while not is_present(world, attached, control):
            spans += probe.spans(10)
        if len(spans) < 50:
            report.note(f"only {len(spans)} changes were made while the file was under way")
        add_percentiles(busy, spans)
        os.remove(file)
    probe.close(), control.close()
    for share in (50, 99):
        report.add(f"change seen on the other node, p{share}, idle", "lanyard", idle[share], "ms")
    calm = sorted(idle[99])[len(idle[99]) // 2]
    during = f"while {size.large // MEBI:,} MiB travel"
    report.add(f"change seen on the other node, p50, {during}", "lanyard", busy[50], "ms")
    report.add(f"change seen on the other node, p99, {during}", "lanyard", busy[99], "ms", goal=2 * calm)


def add_percentiles(figures, spans):
    for share, values in figures.items():
        values.append(percentile(spans, share))


def measure_refusal(report, world, folder):
    """A file of ten gibibytes that takes no room, against a quota of one: refused by what it says of itself."""
    objects(world, ["vault/a"])
    with open(f"{folder}/sparse", "wb") as sparse:
        sparse.truncate(10 << 30)
    set_space(world, 1, quota=1 << 30)
    settle()
    written, begun = memory.written_bytes(world.pid(1)), time.monotonic()
    done = run_lanyard(world, 1, "attach", "vault/a", f"{folder}/sparse", "--json")
    seconds, written = time.monotonic() - begun, memory.written_bytes(world.pid(1)) - written
    if done.returncode != 4 or "quota_exceeded" not in done.stderr:
        raise RuntimeError(f"10 GiB were not refused: {done.returncode} {done.stdout[:200]} {done.stderr[:300]}")
    set_space(world, 1, quota=None)
    os.remove(f"{folder}/sparse")
    report.add("10 GiB refused by a quota of 1 GiB, whole process", "lanyard", seconds * 1e3, "ms", goal=1_000)
    report.add("10 GiB refused by a quota of 1 GiB, written meanwhile", "lanyard", written / 1024, "KiB", goal=1_024)
