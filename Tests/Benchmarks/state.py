"""A big space: a machine that comes to it by state and by changes, what compaction leaves, and what it costs meanwhile."""
import json
import os
import random
import re
import subprocess
import threading
import time

from control import payloads
from objects import COLLECTION, FIELD_BYTES
from world import World, wait_until

KINDS = {"state": (), "changes": ("--no-state",)}


def rounds(objects, changes):
    """Bodies for uploads of lines: every object is written anew in each, so that each line is a change."""
    texts = [json.loads(line)["d"] for line in payloads(objects + 997, size=FIELD_BYTES)]
    for turn in range(changes // objects):
        # Another text in each turn, of a length that is the same.
        start = turn * 17 % 997
        yield "".join(
            f'{{"id":"object-{number:05}","title":"{texts[start + number]}","rank":{turn}}}\n' for number in range(objects)
        ).encode()


def upload(control, body):
    status, answer = control.request("POST", COLLECTION.format("things"), body, "application/x-ndjson")
    if status != 200:
        raise RuntimeError(f"upload: {status} {answer[:300]!r}")


def received_bytes(world, node):
    """As the interface counts them."""
    return int(open_inside(world, node, "/sys/class/net/eth0/statistics/rx_bytes"))


def open_inside(world, node, path):
    return subprocess.run(world.inside(node, "cat", path), capture_output=True, text=True, check=True).stdout


def database_bytes(world, node):
    """Of one that was stopped: all of it is in one file then."""
    return os.path.getsize(f"{world.directory(node)}/data/lanyard.sqlite")


def peak_kib(pid):
    return int(re.search(r"VmHWM:\s+(\d+)", open(f"/proc/{pid}/status").read())[1])


class Newcomer:
    """A machine that joins: what it took until it showed the newest objects, and until it had all."""

    def __init__(self, world, options, newest, last):
        self.world, self.node, self.last = world, int(world.rig("add")), last
        world.rig("stop", str(self.node))
        world.rig("start", str(self.node), "--", *options)
        self.control = world.control(self.node)
        before = received_bytes(world, self.node)
        ticket = world.ticket(1)
        begun = time.monotonic()
        world.join(self.node, ticket)
        joined = time.monotonic()
        wait_until(lambda: all(self.shows(name) for name in newest), 1_800, "the newest objects are there", 0.005)
        self.newest = time.monotonic() - joined
        digest = world.home(1)["digest"]
        wait_until(lambda: world.home(self.node)["digest"] == digest, 1_800, "the newcomer has all", 0.02)
        self.seconds = time.monotonic() - begun
        self.bytes = received_bytes(world, self.node) - before
        self.peak = peak_kib(world.pid(self.node))

    def shows(self, name):
        status, answer = self.control.request("GET", f"{COLLECTION.format('things')}/{name}")
        return status == 200 and json.loads(answer)["fields"]["rank"] == self.last


def killed(world, options, times):
    """(seconds, bytes) of one that is killed at random points on its way, over a cable that has a middle."""
    node = int(world.rig("add"))
    world.rig("link", str(node), "--rate", "20")
    before = received_bytes(world, node)
    ticket = world.ticket(1)
    begun = time.monotonic()
    world.join(node, ticket)
    dice, digest = random.Random(7), world.home(1)["digest"]
    for _ in range(times):
        time.sleep(dice.uniform(0.05, 0.6))
        world.rig("kill", str(node))
        world.rig("start", str(node))
    wait_until(lambda: world.home(node)["digest"] == digest, 1_800, "the killed one has all", 0.02)
    return time.monotonic() - begun, received_bytes(world, node) - before


def writes(world, seconds, stop=None):
    """Durable puts of one line each in so many seconds, or until `stop` is set: how many in each."""
    control, count, begun = world.control(1), 0, time.monotonic()
    while (not stop.is_set()) if stop else time.monotonic() - begun < seconds:
        body = json.dumps({"title": f"written {count}", "rank": count}).encode()
        status, answer = control.request("PUT", f"{COLLECTION.format('beside')}/{count % 100}", body)
        if status != 200:
            raise RuntimeError(f"put: {status} {answer[:200]!r}")
        count += 1
    spent = time.monotonic() - begun
    control.close()
    return count / spent


def measure(report, size):
    objects, changes = size.objects // 5, size.events
    label = f"{changes:,} changes to {objects:,} objects"
    with World("benchs", 2) as world:
        control = world.control(1, timeout=600)
        begun = time.monotonic()
        for body in rounds(objects, changes):
            upload(control, body)
        report.add(f"{label}: written, the other node takes them in", "lanyard",
                   changes / (time.monotonic() - begun), "changes/s")
        control.close()
        wait_until(lambda: world.agree(1, 2), 1_800, "the other node has all", 0.1)
        report.note(f"in the log: {world.home(1)['changes']:,} changes")
        join(report, world, label, objects, size)
        compact(report, world, label)


def join(report, world, label, objects, size):
    newest = [f"object-{objects - 1 - number:05}" for number in range(10)]
    seen = {kind: [Newcomer(world, options, newest, size.events // objects - 1) for _ in range(1 if kind == "changes" else size.runs)]
            for kind, options in KINDS.items()}
    for kind, comers in seen.items():
        system = "lanyard" if kind == "state" else "lanyard, all changes"
        report.add(f"{label}: a newcomer has all", system, [one.seconds for one in comers], "s")
        report.add(f"{label}: a newcomer receives", system, [one.bytes / 1e6 for one in comers], "MB")
        report.add(f"{label}: the newest 10 are readable on a newcomer", system, [one.newest for one in comers], "s",
                   goal=1 if kind == "state" else None)
        report.add(f"{label}: VmHWM of a newcomer", system, [one.peak / 1024 for one in comers], "MiB")
    plain = min(one.bytes for one in seen["state"])
    seconds, received = killed(world, (), 10)
    report.add(f"{label}: a newcomer that is killed ten times, at 20 Mbit/s", "lanyard", seconds, "s")
    report.add(f"{label}: what it receives, of what one does that is not killed", "lanyard", received / plain, "times")


def compact(report, world, label):
    nodes = [node for node in range(1, 32) if os.path.exists(f"{world.directory(node)}/agent.pid")]
    time.sleep(75)  # members say a minute's work at a time; until then nothing that the last one took is stable
    for node in reversed(nodes):
        world.rig("stop", str(node))
    live, full = database_bytes(world, 3), database_bytes(world, 1)
    world.rig("start", "1", "--", "--keep-history", "0s")
    held = world.home(1)["changes"]
    before = writes(world, 5)
    over, during = threading.Event(), []
    writer = threading.Thread(target=lambda: during.append(writes(world, 0, over)))
    begun = time.monotonic()
    writer.start()
    world.lanyard(1, "compact", timeout=900)  # beside writes it takes its time
    spent = time.monotonic() - begun
    over.set()
    writer.join()
    after = writes(world, 5)
    dropped = world.home(1)["droppedChanges"]
    report.add(f"{label}: dropped by one compaction", "lanyard", dropped / held, "of all", goal=0.9, most=False)
    report.add(f"{label}: dropped by one compaction", "lanyard, a second", dropped / spent, "changes/s")
    report.add(f"{label}: durable puts beside compaction", "lanyard", during[0], "puts/s")
    report.add(f"{label}: durable puts beside compaction", "lanyard before and after it", [before, after], "puts/s")
    report.add(f"{label}: durable puts beside compaction, of those without", "lanyard",
               during[0] / ((before + after) / 2), "times", goal=0.8, most=False)
    world.rig("stop", "1")
    left = database_bytes(world, 1)
    report.add(f"{label}: the database before", "lanyard", full / 1e6, "MB")
    report.add(f"{label}: the database after", "lanyard", left / 1e6, "MB")
    report.add(f"{label}: the database after, of one that only ever held the state", "lanyard", left / live, "times", goal=2)
