"""Figures of objects: putting many, merging what was changed on both sides, what they hold of memory, what a small edit costs."""
import json
import os
import signal
import sqlite3
import tempfile
import time

import memory
from control import payloads
from report import percentile
from world import World, wait_until

COLLECTION = "/v1/spaces/home/collections/{}/objects"
FIELD_BYTES = 110


def fields(count):
    """So many objects of about 150 bytes of JSON, as (id, fields)."""
    noise = [json.loads(line)["d"] for line in payloads(count, size=FIELD_BYTES)]
    return [(f"object-{number:06}", {"title": text, "done": False, "rank": number})
            for number, text in enumerate(noise)]


def upload(control, collection, rows):
    """Seconds for one upload of lines, the answer (all durable) included."""
    body = "".join(json.dumps({"id": name, **values}) + "\n" for name, values in rows).encode()
    begun = time.perf_counter()
    status, answer = control.request("POST", COLLECTION.format(collection), body, "application/x-ndjson")
    if status != 200:
        raise RuntimeError(f"upload: {status} {answer[:300]!r}")
    return time.perf_counter() - begun


def one_by_one(control, requests):
    """Milliseconds for each of (method, path, body), a durable commit of its own."""
    spans = []
    for method, path, body in requests:
        begun = time.perf_counter()
        status, answer = control.request(method, path, body)
        spans.append((time.perf_counter() - begun) * 1e3)
        if status != 200:
            raise RuntimeError(f"{method} {path}: {status} {answer[:300]!r}")
    return spans


# Putting


def measure_puts(report, size):
    rows, rates = fields(size.objects), []
    with World("bencho", 1) as world:
        control = world.control(1, timeout=600)
        for run in range(size.runs + 1):
            seconds = upload(control, f"batch{run}", rows if run else rows[:len(rows) // 10])
            if run > 0:
                rates.append(len(rows) / seconds)
        report.add(f"{size.objects:,} puts in one upload", "lanyard", rates, "objects/s")
        path = COLLECTION.format("single")
        requests = [("PUT", f"{path}/{name}", json.dumps(values).encode()) for name, values in rows]
        one_by_one(control, [(method, path.replace("single", "warm"), body) for method, path, body in requests[:500]])
        add_singles(report, "lanyard", one_by_one(control, requests), size)
        control.close()


def add_singles(report, system, spans, size):
    """Rates of five shares, so that a disk that changes its mind half-way is seen."""
    share = len(spans) // 5
    rates = [share / sum(spans[part * share:(part + 1) * share]) * 1e3 for part in range(5)]
    report.add(f"{size.objects:,} puts one at a time", system, rates, "objects/s")
    report.add("durable put, p50", system, percentile(spans, 50), "ms")
    report.add("durable put, p99", system, percentile(spans, 99), "ms")


def database(path):
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("pragma journal_mode=wal")
    connection.execute("pragma synchronous=full")
    connection.execute(
        "create table object(collection text, id text, fields text, primary key(collection, id)) without rowid")
    connection.execute("create table log(position integer primary key, edit text)")
    return connection


PUT = "insert into object values(?, ?, ?) on conflict do update set fields = excluded.fields"


def sqlite_puts(report, size):
    rows = [(name, json.dumps(values)) for name, values in fields(size.objects)]
    with tempfile.TemporaryDirectory() as folder:
        connection = database(f"{folder}/objects.db")
        for group in (256, 1000):
            rates = []
            for run in range(size.runs + 1):
                begun = time.perf_counter()
                for start in range(0, len(rows), group):
                    connection.execute("begin")
                    connection.executemany(
                        PUT, [(f"batch{group}-{run}", *row) for row in rows[start:start + group]])
                    connection.execute("commit")
                if run > 0:
                    rates.append(len(rows) / (time.perf_counter() - begun))
            report.add(f"{size.objects:,} puts in one upload", f"SQLite, {group} rows a commit", rates, "objects/s")
        spans = []
        for row in rows:
            begun = time.perf_counter()
            connection.execute(PUT, ("single", *row))
            spans.append((time.perf_counter() - begun) * 1e3)
        add_singles(report, "SQLite, a commit per row", spans, size)
        connection.close()


# Merging


def edits_apart(rows, run, side):
    """What one side changes: a field of its own in nine of ten objects, and in the tenth the field both change."""
    changed = []
    for index, (name, _) in enumerate(rows):
        field = "rank" if index % 10 == 0 else "title" if side == 1 else "done"
        value = {"rank": run * 10 + side, "title": f"title {run} of {name}", "done": run % 2 == 1}[field]
        changed.append((name, {field: value}))
    return changed


def measure_merge(report, size):
    rows, spans, wire, peaks = fields(size.objects), [], [], []
    changed = rows[::10]
    with World("benchm", 2) as world:
        load(world, rows[:1000], "few")
        few = resting(world, size)
        load(world, rows, "many")
        for run in range(size.runs + 1):
            world.rig("isolate", "2")
            for node in (1, 2):
                control = world.control(node, timeout=600)
                upload(control, "many", edits_apart(changed, run + 1, node))
                control.close()
            # So that the clock runs from the moment at which both can talk: an agent that starts dials at once, and
            # this one finds its peer's kernel, but its peer asleep.
            world.rig("stop", "2")
            world.rig("heal")
            world.rig("pause", "1")
            world.rig("start", "2")
            memory.forget_peak(world.pid(1))
            before = world.link_bytes(2)
            begun = time.monotonic()
            os.kill(world.pid(1), signal.SIGCONT)
            done = wait_until(lambda: world.agree(1, 2), 600, "both stores are merged", 0.02)
            if run > 0:
                spans.append(done - begun)
                wire.append((world.link_bytes(2) - before) / (2 * len(changed)))
                peaks.append(max(memory.peak_kib(world.pid(node)) for node in (1, 2)) / 1024)
            check_merged(world, changed[1][0], run + 1)
        figure = f"merge of {size.objects:,} objects, {len(changed):,} changed on both sides"
        report.add(figure, "lanyard", spans, "s")
        report.add("merge, bytes on the wire per changed object and side", "lanyard", wire, "bytes")
        report.add("merge, peak VmRSS of the fuller agent", "lanyard", peaks, "MiB")
        many = resting(world, size)
        label = f"{size.objects:,}"
        report.add("idle, 1,000 objects: VmRSS", "lanyard", few, "MiB")
        report.add(f"idle, {label} objects: VmRSS", "lanyard", many, "MiB", goal=60)
        report.add(f"idle, {label} objects less 1,000 objects: VmRSS", "lanyard", max(many) - max(few), "MiB")


def load(world, rows, collection):
    control = world.control(1, timeout=600)
    upload(control, collection, rows)
    control.close()
    wait_until(lambda: world.agree(1, 2), 600, "the other node has all objects", 0.05)


def resting(world, size):
    """MiB of both agents once they have given back what they can."""
    time.sleep(15 if size.idle_seconds >= 60 else 3)
    return [memory.resident_kib(world.pid(node))[0] / 1024 for node in (1, 2)]


def check_merged(world, name, run):
    """A fast merge that lost a side would be no merge."""
    for node in (1, 2):
        held = world.ask(node, f"{COLLECTION.format('many')}/{name}")["fields"]
        if held["title"] != f"title {run} of {name}" or held["done"] != (run % 2 == 1):
            raise RuntimeError(f"node {node} shows {held} after merge {run}")


def sqlite_merge(report, size):
    """The least that any merge of rows does, on one side only: each row read, parsed, changed twice and written."""
    rows, spans = fields(size.objects), []
    changed = rows[::10]
    with tempfile.TemporaryDirectory() as folder:
        connection = database(f"{folder}/objects.db")
        connection.execute("begin")
        connection.executemany(PUT, [("many", name, json.dumps(values)) for name, values in rows])
        connection.execute("commit")
        for run in range(size.runs + 1):
            sides = [edits_apart(changed, run + 1, side) for side in (1, 2)]
            begun = time.perf_counter()
            for start in range(0, len(changed), 1000):
                connection.execute("begin")
                for left, right in zip(*(side[start:start + 1000] for side in sides)):
                    text = connection.execute(
                        "select fields from object where collection = 'many' and id = ?", (left[0],)).fetchone()[0]
                    connection.execute(PUT, ("many", left[0], json.dumps({**json.loads(text), **left[1], **right[1]})))
                connection.execute("commit")
            if run > 0:
                spans.append(time.perf_counter() - begun)
        connection.close()
    report.add(
        f"merge of {size.objects:,} objects, {len(changed):,} changed on both sides", "SQLite alone, one side", spans, "s")


# A small edit


EDITED = 1000


def measure_small_edits(report, size):
    """Each is one field of one object, its own durable change, pushed at once: what it leaves on disk and on the wire."""
    with World("benchs", 2) as world:
        load(world, fields(EDITED), "notes")
        path = COLLECTION.format("notes")
        requests = [("PATCH", f"{path}/object-{index % EDITED:06}", json.dumps([f"rank={index + 1_000_000}"]).encode())
                    for index in range(size.edits)]
        control = world.control(1)
        one_by_one(control, requests[:EDITED])
        control.close()
        wait_until(lambda: world.agree(1, 2), 60, "the other node has the edits", 0.05)
        before = settled_bytes(world)
        # The answers to the restarts do not count.
        time.sleep(2)
        world.count_sessions(1, 2)
        written = [memory.written_bytes(world.pid(node)) for node in (1, 2)]
        control = world.control(1, timeout=600)
        spans = one_by_one(control, requests)
        control.close()
        wait_until(lambda: world.agree(1, 2), 60, "the other node has the edits", 0.05)
        report.add("small edit, p50", "lanyard", percentile(spans, 50), "ms")
        report.add("small edit, bytes on the wire", "lanyard", world.session_bytes(1) / size.edits, "bytes")
        written = [(memory.written_bytes(world.pid(node)) - old) / size.edits for node, old in zip((1, 2), written)]
        grown = [(new - old) / size.edits for new, old in zip(settled_bytes(world), before)]
        report.add("small edit, bytes the files grow by", "lanyard", grown, "bytes", note="author and receiver")
        report.add("small edit, bytes given to the disk", "lanyard", written, "bytes", note="author and receiver")


def settled_bytes(world):
    """The bytes of each node's data, with nothing left in the write-ahead log: what a stopped agent leaves."""
    sizes = []
    for node in (1, 2):
        world.rig("stop", str(node))
        folder = f"{world.directory(node)}/data"
        sizes.append(sum(os.path.getsize(os.path.join(top, file)) for top, _, files in os.walk(folder) for file in files
                         if file.startswith("lanyard.sqlite")))
        world.rig("start", str(node))
    wait_until(lambda: world.connected(1) and world.agree(1, 2), 30, "the nodes are in step", 0.05)
    return sizes


def sqlite_small_edits(report, size):
    """A row changed and the edit noted in a log, as somebody would who ships it later by hand."""
    with tempfile.TemporaryDirectory() as folder:
        connection = database(f"{folder}/objects.db")
        connection.executemany(PUT, [("notes", name, json.dumps(values)) for name, values in fields(EDITED)])

        def settled():
            connection.execute("pragma wal_checkpoint(truncate)")
            return os.path.getsize(f"{folder}/objects.db")

        before, written, spans = settled(), memory.written_bytes("self"), []
        for index in range(size.edits):
            name = f"object-{index % EDITED:06}"
            edit = json.dumps({"id": name, "rank": index})
            begun = time.perf_counter()
            connection.execute("begin")
            connection.execute(
                "update object set fields = json_set(fields, '$.rank', ?) where collection = 'notes' and id = ?",
                (index, name))
            connection.execute("insert into log(edit) values(?)", (edit,))
            connection.execute("commit")
            spans.append((time.perf_counter() - begun) * 1e3)
        report.add("small edit, p50", "SQLite, row and log", percentile(spans, 50), "ms")
        report.add(
            "small edit, bytes the files grow by", "SQLite, row and log", (settled() - before) / size.edits, "bytes")
        report.add("small edit, bytes given to the disk", "SQLite, row and log",
                   (memory.written_bytes("self") - written) / size.edits, "bytes")
        connection.close()
