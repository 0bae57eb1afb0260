"""A long text in the agent: opening it, typing in it, and what a keystroke leaves on disk and on the wire."""
import json
import random
import tempfile
import time

import memory
from objects import COLLECTION, database, one_by_one, settled_bytes
from report import percentile
from world import World, wait_until

PIECE = 400_000  # characters in one edit: what a change may hold, with room to spare


def prose(length):
    """So many characters that do not repeat: words of a made-up language, in lines."""
    noise = random.Random(9)
    words = ["".join(noise.choices("etaoinshrdlucmfwypvbgk", k=noise.randint(2, 9))) for _ in range(20_000)]
    parts, count = [], 0
    while count < length:
        line = " ".join(noise.choices(words, k=12)) + ".\n"
        parts.append(line)
        count += len(line)
    return "".join(parts)[:length]


def path(name):
    return f"{COLLECTION.format('books')}/{name}"


def write_book(control, name, text):
    control.json("PUT", path(name), {"title": name})
    for start in range(0, len(text), PIECE):
        edit = {"op": "insert", "path": "body", "at": start, "value": text[start:start + PIECE]}
        status, answer = control.request("PATCH", f"{path(name)}?brief=true", json.dumps([edit]).encode())
        if status != 200:
            raise RuntimeError(f"writing {name}: {status} {answer[:300]!r}")


def keystrokes(name, start, count):
    """Somebody types on, from `start`."""
    return [("PATCH", f"{path(name)}?brief=true",
             json.dumps([{"op": "insert", "path": "body", "at": start + number,
                          "value": "abcdefghij"[number % 10]}]).encode()) for number in range(count)]


def read(control, name, length):
    """Milliseconds until the whole text has come."""
    begun = time.perf_counter()
    status, answer = control.request("GET", path(name))
    spent = (time.perf_counter() - begun) * 1e3
    if status != 200 or len(answer) < length:
        raise RuntimeError(f"reading {name}: {status}, {len(answer)} bytes")
    return spent


def floor(connection, count):
    """Milliseconds for each: a keystroke's row in a log of SQLite's, durable, and nothing else."""
    spans = []
    for number in range(count):
        begun = time.perf_counter()
        connection.execute("insert into log(edit) values(?)", (f"insert {number}",))
        spans.append((time.perf_counter() - begun) * 1e3)
    return spans


def restart(world, node):
    world.rig("stop", str(node))
    world.rig("start", str(node))


def measure(report, size):
    long = prose(size.book)
    label = f"text of {size.book / 1e6:g} MB"
    with World("benchk", 2) as world:
        control = world.control(1, timeout=600)
        control.json("PUT", "/v1/spaces/home/collections/books/schema", {"fields": {"body": "text"}})
        write_book(control, "long", long)
        write_book(control, "short", long[:1_000])
        control.close()
        wait_until(lambda: world.agree(1, 2), 600, "the other node has the book", 0.1)

        opened, first = [], []
        for run in range(size.runs):
            restart(world, 1)
            control = world.control(1, timeout=600)
            control.json("GET", path("short"))
            opened.append(read(control, "long", size.book))
            first += one_by_one(control, keystrokes("long", 500 + run, 1))
            control.close()
        report.add(f"{label}: opened and read, first after a start", "lanyard", opened, "ms", goal=100)
        report.add(f"{label}: first edit after a start", "lanyard", first, "ms")

        wait_until(lambda: world.agree(1, 2), 60, "the nodes are in step", 0.05)
        control = world.control(1, timeout=600)
        spans = {"disk": []}
        for name in ("short", "long"):
            one_by_one(control, keystrokes(name, 600, 50))
        with tempfile.TemporaryDirectory() as folder:
            connection = database(f"{folder}/keystrokes.db")
            turn = size.keystrokes // 10
            for part in range(10):  # by turns: a shared machine is another one a second later
                spans["disk"] += floor(connection, turn)
                for name in ("short", "long"):
                    spans.setdefault(name, []).extend(
                        one_by_one(control, keystrokes(name, 650 + part * turn, turn)))
            connection.close()
        control.close()
        for name, what in (("short", "text of 1 KB"), ("long", label)):
            goal = 1 if name == "long" else None
            for share in (50, 99):
                figure = f"{what}: one keystroke, durable, p{share}"
                report.add(figure, "lanyard", percentile(spans[name], share), "ms", goal=goal if share == 50 else None)
                report.add(figure, "SQLite, a row in a log", percentile(spans["disk"], share), "ms")
        measure_alone(report, size, world, label)
        longer = percentile(spans["long"], 50) - percentile(spans["short"], 50)
        report.add(f"{label}: what a keystroke takes longer than in 1 KB, p50", "lanyard", longer, "ms")
        resident = memory.resident_kib(world.pid(1))[0] / 1024
        report.add(f"{label}: VmRSS of the agent it is typed in", "lanyard", resident, "MiB")
        measure_bytes(report, size, world, label)
    measure_listened(report, size)


def measure_alone(report, size, world, label):
    """The same while nobody listens: no other agent takes in each keystroke on the same two processors."""
    world.rig("stop", "2")
    wait_until(lambda: not world.connected(1), 60, "node 1 is alone", 0.05)
    control = world.control(1, timeout=600)
    one_by_one(control, keystrokes("long", 5_000, 50))
    spans = one_by_one(control, keystrokes("long", 5_050, size.keystrokes))
    control.close()
    for share in (50, 99):
        report.add(f"{label}: one keystroke alone, durable, p{share}", "lanyard", percentile(spans, share), "ms",
                   goal=1 if share == 50 else None)
    world.rig("start", "2")
    wait_until(lambda: world.agree(1, 2), 60, "the nodes are in step again", 0.05)


def measure_bytes(report, size, world, label):
    wait_until(lambda: world.agree(1, 2), 60, "the nodes are in step", 0.05)
    before = settled_bytes(world)
    written = [memory.written_bytes(world.pid(node)) for node in (1, 2)]
    time.sleep(2)  # the answers to the restarts do not count
    world.count_sessions(1, 2)
    control = world.control(1, timeout=600)
    count = size.typed_live
    sent = sent_bytes(world)
    type_at_ten_a_second(control, keystrokes("long", 10_000, count))
    control.close()
    wait_until(lambda: world.agree(1, 2), 60, "the other node has what was typed", 0.05)
    report.add(f"{label}: a keystroke of ten a second, bytes its author's agent sends", "lanyard",
               (sent_bytes(world) - sent) / count, "bytes", goal=250)
    report.add(f"{label}: a keystroke of ten a second, bytes on the wire, both ways with TCP and IP", "lanyard",
               world.session_bytes(1) / count, "bytes")
    pushed = [(memory.written_bytes(world.pid(node)) - old) / count for node, old in zip((1, 2), written)]
    report.add(f"{label}: a keystroke, bytes given to the disk", "lanyard", pushed, "bytes", note="author and receiver")
    grown = [(new - old) / count for new, old in zip(settled_bytes(world), before)]
    report.add(f"{label}: a keystroke, bytes the files grow by", "lanyard", grown, "bytes", goal=1024,
               note="author and receiver")

    quiet = pulled(world, 0)
    report.add(f"{label}: a keystroke typed alone and pulled later, bytes of the agents' traffic", "lanyard",
               (pulled(world, size.typed_alone) - quiet) / size.typed_alone, "bytes", goal=10)


def type_at_ten_a_second(control, requests):
    begun = time.monotonic()
    for number, request in enumerate(requests):
        time.sleep(max(0, begun + number / 10 - time.monotonic()))
        one_by_one(control, [request])


def measure_listened(report, size):
    """What each keystroke costs a node that was off while another listened: every one was signed and sent by itself."""
    with World("benchl", 3) as world:
        control = world.control(1)
        control.json("PUT", "/v1/spaces/home/collections/books/schema", {"fields": {"body": "text"}})
        write_book(control, "long", prose(1_000))
        wait_until(lambda: world.agree(1, 2) and world.agree(1, 3), 60, "all have the note", 0.05)

        def caught_up(count):
            world.rig("stop", "3")
            wait_until(lambda: len(world.connected(1)) == 1, 60, "node 3 is gone", 0.05)
            type_at_ten_a_second(control, keystrokes("long", 500, count))
            wait_until(lambda: world.agree(1, 2), 60, "node 2 has what was typed", 0.05)
            world.count_sessions(3, 1, 2)
            world.rig("start", "3")
            wait_until(lambda: world.agree(1, 3), 60, "node 3 has what was typed", 0.05)
            time.sleep(2)
            return world.session_bytes(3)

        quiet = caught_up(0)
        report.add("a keystroke typed while another listens, pulled later, bytes of the agents' traffic", "lanyard",
                   (caught_up(size.typed_listened) - quiet) / size.typed_listened, "bytes", goal=10)
        control.close()


def sent_bytes(world):
    """As node 1 counts them: frames, signatures and all."""
    return sum(peer["bytesOut"] for peer in world.ask(1, "/v1/peers"))


def pulled(world, count):
    """Bytes between the agents when node 2 comes back after so many keystrokes on node 1."""
    world.rig("stop", "2")
    wait_until(lambda: not world.connected(1), 60, "node 1 is alone", 0.05)
    if count:
        control = world.control(1, timeout=600)
        one_by_one(control, keystrokes("long", 20_000, count))
        control.close()
    world.count_sessions(1, 2)
    world.rig("start", "2")
    wait_until(lambda: world.connected(1) and world.agree(1, 2), 60, "node 2 has what was typed", 0.05)
    time.sleep(2)
    return world.session_bytes(1)
