"""One task of the race with one peer, in a process of its own: `peer.py ENGINE TASK RUNS ARGUMENT…`.

Prints each figure as a line of JSON, in the words of the Swift driver (`TextRace`), which takes the same tasks. A text that
does not come out as it should is an error: then there is no figure.
"""
import ctypes
import gc
import json
import random
import re
import resource
import sys
import time

from engines import ENGINES
from traces import Reader, in_bytes

clock = time.perf_counter
BUDGET_SECONDS = 20  # no more runs of a figure after this
TAIL = 1_000  # edits that are shipped, and typed live


def say(figure, values, unit, **more):
    print(json.dumps({"figure": figure, "unit": unit, "values": values, **more}), flush=True)


def expect(is_right, what):
    if not is_right:
        raise SystemExit(f"{what}: another text than recorded")


def milliseconds(work):
    begun = clock()
    answer = work()
    return (clock() - begun) * 1e3, answer


def repeated(runs, run):
    """What each run gives; fewer than `runs` of them when they take long."""
    values, begun = [], clock()
    while len(values) < runs and (not values or clock() - begun < BUDGET_SECONDS):
        gc.collect()
        values.append(run())
    return values


def columns(rows, *names):
    """[{name: value}] as one list a name."""
    return {name: [row[name] for row in rows] for name in names}


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(share / 100 * len(values)))]


# Replay

def replay(engine, runs, path, each):
    trace = solo(engine, path)

    def run():
        document = engine(1)
        time, _ = milliseconds(lambda: (document.type_each if each else document.type)(trace.patches))
        expect(document.text() == trace.end, "replay")
        return time, milliseconds(lambda: document.calls(trace.patches))[0]

    times = repeated(runs, run)
    calls = min(call for _, call in times)
    say("replay_each" if each else "replay_whole", [time - calls for time, _ in times], "ms", calls=round(calls, 1))


def typed_whole(engine, number, patches):
    """Yrs takes many edits in one transaction badly; who it does not hurt has the faster way."""
    document = engine(number)
    (document.type_each if engine.bulk_limit else document.type)(patches)
    return document


def encode(engine, path, prefix):
    trace, document = solo(engine, path), engine(1)
    document.type_each(trace.patches)
    expect(document.text() == trace.end, "replay")
    write_encoded(engine, document, prefix)


def write_encoded(engine, document, prefix):
    for form in engine.formats:
        data = document.encoded(form)
        with open(f"{prefix}.{form}", "wb") as file:
            file.write(data)
        say("bytes", [len(data)], "bytes", form=form)


def load(engine, runs, form, file, path):
    trace, data = solo(engine, path), open(file, "rb").read()

    def run():
        opening, (document, text) = milliseconds(lambda: opened_and_read(engine, form, data))
        expect(text == trace.end, "load")
        first, _ = milliseconds(lambda: document.type(((len(text) // 2, 0, "x"),)))
        return {"load": opening, "first_edit": first}

    for figure, values in columns(repeated(runs, run), "load", "first_edit").items():
        say(figure, values, "ms", form=form)


def opened_and_read(engine, form, data, number=9):
    document = engine.opened(number, form, data)
    return document, document.text()


# Memory

def resident_kib():
    """Of what is in use: free heap goes back first. `smaps_rollup` counts; `status` may be off by some hundred KiB."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    return int(re.search(r"^Rss:\s+(\d+)", open("/proc/self/smaps_rollup").read(), re.M)[1])


def rehearse(engine, trace):
    """Everything done once with little, so that code which is needed is there before memory is looked at."""
    document = engine(1)
    document.type_each(trace.patches[:100])
    for form in engine.formats:
        opened, _ = opened_and_read(engine, form, document.encoded(form))
        opened.type(((0, 0, "x"),))


def memory_replay(engine, path):
    trace = solo(engine, path)
    rehearse(engine, trace)
    before = resident_kib()
    document = engine(1)
    document.type_each(trace.patches)
    held = resident_kib() - before
    expect(document.text() == trace.end, "replay")
    say("memory_replay", [held / 1024], "MiB")


def memory_load(engine, form, file, path):
    trace, data = solo(engine, path), open(file, "rb").read()
    rehearse(engine, trace)
    before = resident_kib()
    document, text = opened_and_read(engine, form, data)
    is_right = text == trace.end
    del text
    held = resident_kib() - before
    expect(is_right, "load")
    say("memory_load", [held / 1024], "MiB", form=form)
    return document  # alive until here


# The last edits

def delta(engine, runs, path):
    trace = solo(engine, path)
    head, tail = trace.patches[:-TAIL], trace.patches[-TAIL:]

    def run():
        source = typed_whole(engine, 1, head)
        held, start = source.version(), source.encoded(engine.formats[0])
        source.type_each(tail)
        make, update = milliseconds(lambda: source.since(held))
        target, _ = opened_and_read(engine, engine.formats[0], start)
        apply, _ = milliseconds(lambda: target.apply(update))
        read, text = milliseconds(target.text)
        expect(text == trace.end, "delta")
        return {"delta_bytes": len(update), "delta_make": make, "delta_apply": apply, "delta_apply_read": apply + read}

    rows = columns(repeated(runs, run), "delta_bytes", "delta_make", "delta_apply", "delta_apply_read")
    for figure, values in rows.items():
        say(figure, values, "bytes" if figure == "delta_bytes" else "ms")


def live(engine, runs, path):
    """Each of the last edits typed, committed, encoded, and taken in by another replica; calls are not subtracted."""
    trace = solo(engine, path)
    head, tail = trace.patches[:-TAIL], trace.patches[-TAIL:]
    start = typed_whole(engine, 1, head).encoded(engine.formats[0])

    def run():
        source, _ = opened_and_read(engine, engine.formats[0], start, 1)
        target, _ = opened_and_read(engine, engine.formats[0], start)
        times, sizes = [], []
        for patch in tail:
            begun = clock()
            update = source.written((patch,))
            target.apply(update)
            times.append((clock() - begun) * 1e6)
            sizes.append(len(update))
        expect(target.text() == trace.end, "live")
        return {"live_p50": percentile(times, 50), "live_p99": percentile(times, 99), "live_bytes": sum(sizes) / len(sizes)}

    rows = columns(repeated(runs, run), "live_p50", "live_p99", "live_bytes")
    for figure, values in rows.items():
        say(figure, values, "bytes" if figure == "live_bytes" else "µs")


# Several people

def shared(engine, runs, path):
    trace = Reader(path).shared()
    updates, document = written_apart(engine, trace)
    for form in engine.formats:
        data = document.encoded(form)
        say("shared_bytes", [len(data)], "bytes", form=form)

        def run():
            time, (_, text) = milliseconds(lambda: opened_and_read(engine, form, data))
            expect(text == trace.end, "merge")
            return time

        say("shared_merge", repeated(runs, run), "ms", form=form)
    say_one_by_one(engine, runs, "shared_each", updates, trace.end)


def written_apart(engine, trace):
    """Every transaction as its author ships it, typed on a replica that holds just the transaction's past."""
    documents = [engine(agent + 1) for agent in range(trace.agents)]
    held, updates = [set() for _ in documents], []
    for index, (agent, parents, patches) in enumerate(trace.transactions):
        expect(not engine.counts_bytes or all(inserted.isascii() for _, _, inserted in patches), "ASCII only")
        missing, open_ends = set(), list(parents)
        while open_ends:
            parent = open_ends.pop()
            if parent not in held[agent] and parent not in missing:
                missing.add(parent)
                open_ends += trace.transactions[parent][1]
        for earlier in sorted(missing):
            if updates[earlier] is not None:
                documents[agent].apply(updates[earlier])
        updates.append(documents[agent].written(patches) if patches else None)
        held[agent] |= missing | {index}
    last = documents[trace.transactions[-1][0]]
    expect(last.text() == trace.end, "several people")
    return [update for update in updates if update is not None], last


def say_one_by_one(engine, runs, figure, updates, end, start=None):
    """All updates, one after the other, into a replica that holds nothing, or `start`."""
    def run():
        document = engine.opened(9_999, engine.formats[0], start) if start else engine(9_999)

        def take():
            for update in updates:
                document.apply(update)
            return document.text()

        time, text = milliseconds(take)
        expect(text == end, figure)
        return time

    times = repeated(runs, run)
    say(figure, times, "ms")
    say(figure + "_us", [time * 1e3 / len(updates) for time in times], "µs")


def apart(engine, runs, base_path, left_path, right_path):
    """Two replicas start from one text, each is written to alone, then each gets what it lacks."""
    base, left, right = (solo(engine, path).patches for path in (base_path, left_path, right_path))

    def run():
        a = engine(1)
        a.type_each(base)
        b = engine.opened(2, engine.formats[0], a.encoded(engine.formats[0])) if base else engine(2)
        of_a, of_b = a.version(), b.version()
        a.type_each(left)
        b.type_each(right)
        make, (for_b, for_a) = milliseconds(lambda: (a.since(of_b), b.since(of_a)))
        merge, _ = milliseconds(lambda: (a.apply(for_a), b.apply(for_b)))
        read, (text_of_a, text_of_b) = milliseconds(lambda: (a.text(), b.text()))
        expect(text_of_a == text_of_b, "apart")
        return {"apart_bytes": len(for_a) + len(for_b), "apart_make": make, "apart_merge": merge, "apart_read": merge + read}

    for figure, values in columns(repeated(runs, run), "apart_bytes", "apart_make", "apart_merge", "apart_read").items():
        say(figure, values, "bytes" if figure == "apart_bytes" else "ms")


# What this family of engines is known to be slow at

def branches(engine, runs, count):
    """`count` replicas each type three letters in the same place, none knowing of the others."""
    base = engine(1)
    base.type(((0, 0, "." * 100),))
    start, updates = base.encoded(engine.formats[0]), []
    for number in range(count):
        branch = engine.opened(number + 2, engine.formats[0], start)
        updates.append(branch.written(((50, 0, "abc"),)))
    random.Random(1).shuffle(updates)
    say_one_by_one(engine, runs, "branches", updates, "." * 50 + "abc" * count + "." * 50, start)


def turns(engine, runs, count):
    """Two authors type one letter each, in turn, each beside the other's last, in the middle of a text."""
    base = engine(1)
    base.type(((0, 0, "." * 1_000),))
    start, updates = base.encoded(engine.formats[0]), []
    authors = [engine.opened(number, engine.formats[0], start) for number in (2, 3)]
    for turn in range(count):
        updates.append(authors[turn % 2].written(((500 + turn, 0, "ab"[turn % 2]),)))
        authors[1 - turn % 2].apply(updates[-1])
    say_one_by_one(engine, runs, "turns", updates, "." * 500 + "ab" * (count // 2) + "." * 500, start)


def solo(engine, path):
    trace = Reader(path).solo()
    if engine.counts_bytes:
        trace.patches = in_bytes(trace.patches)
    return trace


def main(name, task, runs, *arguments):
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))  # an engine that grows without end fails alone
    engine, runs = ENGINES[name], int(runs)
    engine(0)  # what is loaded with the first document belongs to nobody's figure
    gc.disable()
    tasks = {
        "replay-each": lambda path: replay(engine, runs, path, True),
        "replay-whole": lambda path: replay(engine, runs, path, False),
        "encode": lambda path, prefix: encode(engine, path, prefix),
        "load": lambda form, file, path: load(engine, runs, form, file, path),
        "memory-replay": lambda path: memory_replay(engine, path),
        "memory-load": lambda form, file, path: memory_load(engine, form, file, path),
        "delta": lambda path: delta(engine, runs, path),
        "live": lambda path: live(engine, runs, path),
        "shared": lambda path: shared(engine, runs, path),
        "apart": lambda base, left, right: apart(engine, runs, base, left, right),
        "branches": lambda count: branches(engine, runs, int(count)),
        "turns": lambda count: turns(engine, runs, int(count)),
    }
    tasks[task](*arguments)


if __name__ == "__main__":
    main(*sys.argv[1:])
