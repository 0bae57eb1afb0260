"""Figures of queries: lists with and without an index, and subscriptions that are told what changes in their result."""
import json
import os
import select
import sqlite3
import tempfile
import time
from urllib.parse import quote

from objects import COLLECTION, upload
from report import percentile
from world import World

OWNERS = 1_000
SUBSCRIPTIONS = 100
CHANGES = 400
LIVE = "/v1/spaces/home/collections/{}/live?{}"
SCHEMA = {"indexed": ["owner", "rank"]}


def fields(count):
    """So many objects, as (id, fields): a thousand owners, each with as many objects."""
    return [(f"object-{number:06}", {
        "title": f"task {number * 7919 % count:06}", "owner": f"p{number % OWNERS:03}", "rank": number,
        "done": number % 3 == 0, "state": ("open", "held", "new")[number % 3 if number % 50 else 2]}) for number in range(count)]


def questions(count):
    """(name, condition, sort, limit, SQL condition and order) of lists that applications show."""
    return [
        ("by an indexed value", 'owner = "p007"', [], None, "owner = 'p007' ORDER BY id"),
        ("by an indexed range", f"rank >= {count // 2} and rank < {count // 2 + 100}", [], None,
         f"rank >= {count // 2} AND rank < {count // 2 + 100} ORDER BY id"),
        ("by two fields, one indexed", 'owner = "p007" and done = true', [], None,
         "owner = 'p007' AND json_extract(fields, '$.done') ORDER BY id"),
        ("without an index, 2 in 1,000", 'title prefix "task 00" and done = true and state = "new"', [], None,
         "json_extract(fields, '$.title') GLOB 'task 00*' AND json_extract(fields, '$.done') "
         "AND json_extract(fields, '$.state') = 'new' ORDER BY id"),
        ("the first 50 by a field without an index", None, ["title"], 50,
         "true ORDER BY json_extract(fields, '$.title'), id LIMIT 50"),
        ("the first 50 by an indexed field", None, ["rank desc"], 50, "true ORDER BY rank DESC, id LIMIT 50"),
        ("the first 50 by an indexed field, one in three", "done = true", ["rank"], 50,
         "json_extract(fields, '$.done') ORDER BY rank, id LIMIT 50"),
        ("the first 50 by an indexed field, then another", None, ["owner desc", "title"], 50,
         "true ORDER BY owner DESC, json_extract(fields, '$.title'), id LIMIT 50"),
    ]


def query_text(condition, sort, limit):
    parts = [f"where={quote(condition)}"] if condition else []
    parts += [f"sort={quote(step)}" for step in sort]
    return "&".join(parts + ([f"limit={limit}"] if limit else []))


def measure(report, size):
    count = size.objects
    rows = fields(count)
    with World("benchq", 1) as world:
        control = world.control(1, timeout=600)
        control.json("PUT", "/v1/spaces/home/collections/tasks/schema", SCHEMA)
        control.json("PUT", "/v1/spaces/home/collections/few/schema", SCHEMA)
        upload(control, "tasks", rows)
        upload(control, "few", rows[:OWNERS])
        lists(report, size, control, count)
        subscriptions(report, world, control, count)
        control.close()
    sqlite_lists(report, size, rows)


def lists(report, size, control, count):
    for name, condition, sort, limit, _ in questions(count):
        path = f"{COLLECTION.format('tasks')}?{query_text(condition, sort, limit)}"
        spans, found = [], None
        for _ in range(5 * size.runs + 1):
            begun = time.perf_counter()
            status, body = control.request("GET", path)
            spans.append((time.perf_counter() - begun) * 1e3)
            if status != 200:
                raise RuntimeError(f"GET {path}: {status} {body[:300]!r}")
            found = len(json.loads(body))
        report.add(f"list of {count:,} {name}", "lanyard", spans[1:], "ms", found=found)


def sqlite_lists(report, size, rows):
    with tempfile.TemporaryDirectory(dir=os.path.expanduser("~")) as directory:
        connection = sqlite3.connect(f"{directory}/queries.db", isolation_level=None)
        connection.execute("PRAGMA journal_mode = wal")
        connection.execute("CREATE TABLE object (id TEXT PRIMARY KEY, owner TEXT, rank INTEGER, fields TEXT) WITHOUT ROWID")
        connection.execute("BEGIN")
        connection.executemany(
            "INSERT INTO object VALUES (?, ?, ?, ?)",
            [(name, values["owner"], values["rank"], json.dumps(values)) for name, values in rows])
        connection.execute("COMMIT")
        connection.execute("CREATE INDEX by_owner ON object (owner, id)")
        connection.execute("CREATE INDEX by_rank ON object (rank)")
        for name, _, _, _, sql in questions(len(rows)):
            spans = []
            for _ in range(5 * size.runs + 1):
                begun = time.perf_counter()
                connection.execute(f"SELECT id, fields FROM object WHERE {sql}").fetchall()
                spans.append((time.perf_counter() - begun) * 1e3)
            report.add(f"list of {len(rows):,} {name}", "SQLite alone, in this process", spans[1:], "ms")
        connection.close()


# Subscriptions


class Subscriber:
    """A live query on a connection of its own, past its first result."""

    def __init__(self, world, collection, query):
        self.control = world.control(1, timeout=600)
        self.lines = self.control.follow(LIVE.format(collection, query))
        self.first = self.difference()

    def difference(self):
        """The lines of one difference, which it waits for."""
        lines = []
        while True:
            line = json.loads(next(self.lines))
            if line["kind"] == "complete":
                return lines
            lines.append(line)

    def close(self):
        self.control.close()


def processor(world):
    """Milliseconds of the processor that the agent has used."""
    with open(f"/proc/{world.pid(1)}/stat") as file:
        words = file.read().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) * 1e3 / os.sysconf("SC_CLK_TCK")


def put(control, collection, number, values):
    path = f"{COLLECTION.format(collection)}/object-{number:06}"
    body = json.dumps(values).encode()
    head = f"PUT {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    control.socket.sendall(head.encode() + body)


def take_answer(control):
    status, headers = control._head()
    if status != 200:
        raise RuntimeError(f"PUT: {status}")
    control._exactly(int(headers["content-length"]))


def arrivals(control, subscriber, collection, number, values):
    """(put → acknowledged, put → seen) in milliseconds. A put is acknowledged when its commit is durable."""
    begun = time.perf_counter()
    put(control, collection, number, values)
    waiting, moments = {control.socket: 0, subscriber.control.socket: 1}, [0, 0]
    while waiting:
        for ready in select.select(list(waiting), [], [], 60)[0]:
            moments[waiting.pop(ready)] = (time.perf_counter() - begun) * 1e3
            if ready is control.socket:
                take_answer(control)
            else:
                subscriber.difference()
    return moments


def subscriptions(report, world, control, count):
    # What one reader does without them: reads its list again.
    subscribers = [
        Subscriber(world, "tasks", query_text(f'owner = "p{number:03}" and done = false', ["rank"], None))
        for number in range(SUBSCRIPTIONS)]
    concerned = subscribers[7]
    behind, whole = [], []
    for change in range(CHANGES + 50):
        # The rank moves the object, the title changes it: it stays in the result of one of the hundred.
        values = {"title": f"change {change}", "rank": change * 37 % count}
        acknowledged, seen = arrivals(control, concerned, "tasks", 7 + OWNERS * (change % 2), values)
        if change >= 50:
            behind.append(max(0.0, seen - acknowledged))
            whole.append(seen)
    name = f"{SUBSCRIPTIONS} subscriptions on {count:,}"
    report.add(f"{name}: acknowledged → seen, p50", "lanyard", percentile(behind, 50), "ms")
    report.add(f"{name}: acknowledged → seen, p99", "lanyard", percentile(behind, 99), "ms", goal=2)
    report.add(f"{name}: put → seen, p50", "lanyard", percentile(whole, 50), "ms")
    report.add(f"{name}: put → seen, p99", "lanyard", percentile(whole, 99), "ms")
    reload = []
    query = query_text('owner = "p007" and done = false', ["rank"], None)
    path = f"{COLLECTION.format('tasks')}?{query}"
    for _ in range(50):
        begun = time.perf_counter()
        for _ in range(SUBSCRIPTIONS):
            control.request("GET", path)
        reload.append((time.perf_counter() - begun) * 1e3)
    report.add(f"{name}: put → seen, p50", "each reads its list again (RxDB's way)", percentile(reload, 50), "ms")
    for subscriber in subscribers:
        subscriber.close()
    unconcerned(report, world, control, count)
    alike(report, world, control, count)


def unconcerned(report, world, control, count):
    """What a change costs the agent that concerns no subscription."""
    for collection, objects in (("few", OWNERS), ("tasks", count)):
        costs = {}
        for number in (0, SUBSCRIPTIONS):
            subscribers = [
                Subscriber(world, collection, query_text(f"rank >= 0 and done = true and title > {json.dumps('u')}", ["rank"], None))
                for _ in range(number)]
            begun = None
            for change in range(CHANGES + 50):
                if change == 50:
                    begun = processor(world)
                put(control, collection, 1 + change % 5 * 3, {"title": f"change {change}"})
                take_answer(control)
            costs[number] = (processor(world) - begun) / CHANGES
            for subscriber in subscribers:
                subscriber.close()
        report.add(
            f"processor time of a put that concerns none of {SUBSCRIPTIONS} subscriptions, of {objects:,} objects", "lanyard",
            costs[SUBSCRIPTIONS], "ms")
        report.add(
            f"processor time of a put that concerns none of {SUBSCRIPTIONS} subscriptions, of {objects:,} objects",
            "without subscriptions", costs[0], "ms")


def alike(report, world, control, count):
    """A change that concerns all."""
    subscribers = [Subscriber(world, "tasks", query_text(None, ["rank desc"], 20)) for _ in range(SUBSCRIPTIONS)]
    spans = []
    for change in range(CHANGES // 4):
        begun = time.perf_counter()
        put(control, "tasks", 500, {"rank": count + change})
        take_answer(control)
        for subscriber in subscribers:
            subscriber.difference()
        spans.append((time.perf_counter() - begun) * 1e3)
    report.add(f"{SUBSCRIPTIONS} subscriptions that a change concerns: put → seen by all, p50", "lanyard", percentile(spans, 50), "ms")
    for subscriber in subscribers:
        subscriber.close()
