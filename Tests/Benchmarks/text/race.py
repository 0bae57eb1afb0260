"""Our text engine beside Yrs, Loro and Automerge: the same traces, one run. Started by `deploy/bench text`.

Every figure is taken by a process of its own, the engines one after the other before the next figure: a shared machine is
another one a minute later. Ours is the Swift driver `TextRace`, theirs `peer.py` with the wheels of requirements.txt.
"""
import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time

import traces
from engines import ENGINES
from peers import Peers
from tables import OURS, RaceReport

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.realpath(os.path.join(HERE, "..", "..", ".."))
BINARIES = os.environ.get("RIG_BINARIES") or os.path.join(ROOT, ".build", "release")
PICTURE = os.path.join(ROOT, "Tests", "Benchmarks", "text-merge.png")
QUICK_PICTURE = os.path.join(ROOT, ".build", "text-merge.png")

SOLO = ["automerge-paper", "rustcode", "sveltecomponent"]
SHARED = "friendsforever"
APART = ("rustcode", "sveltecomponent")
GROUPS = ["replay", "size", "last", "shared", "apart", "growth", "worst"]
SEED = 6


class Size:
    def __init__(self, quick):
        self.runs = 1 if quick else 5
        self.seconds = 60 if quick else 300  # for one process
        self.traces = ["sveltecomponent"] if quick else SOLO
        self.edits = 3_000 if quick else None  # of each trace
        self.length = 10_000 if quick else 100_000
        self.growth = [250, 500, 1_000] if quick else [1_250, 2_500, 5_000, 10_000, 20_000, 40_000]
        self.branches = [100, 200] if quick else [1_000, 2_000, 4_000, 8_000]
        self.backwards = [500, 1_000] if quick else [5_000, 10_000, 20_000, 40_000]
        self.turns = [1_000, 2_000] if quick else [12_500, 25_000, 50_000, 100_000]


class Race:
    def __init__(self, report, size, commands, folder, places):
        self.report, self.size, self.folder, self.places = report, size, folder, places
        self.commands = commands  # engine → how its process is started
        self.only_ours = [engine for engine in commands if engine == "ours"]
        self.has_given_up = set()  # (task, engine): a size took too long, so a greater one is not tried

    def solo(self, name):
        """The trace as a flat file."""
        trace = traces.load(traces.find(name, self.places))
        if self.size.edits:
            trace = traces.shortened(trace, self.size.edits)
        return self.flat(trace, f"{name}.solo")

    def flat(self, trace, name):
        path = os.path.join(self.folder, name)
        return path if os.path.exists(path) else traces.save(trace, path)

    def each(self, task, case, *arguments, engines=None):
        """One task with one engine after the other; those that did it."""
        self.report.note(f"{task}, {case}")
        done = []
        for engine in self.commands if engines is None else engines:
            rows = self.one(engine, task, self.size.runs, case, *arguments)
            self.add(engine, case, rows or [])
            if rows is not None:
                done.append(engine)
        return done

    def gathered(self, task, case, *arguments, engines):
        """A process gives one value here: those of as many as there are runs make the figure."""
        self.report.note(f"{task}, {case}")
        found = {engine: [] for engine in engines}
        for _ in range(self.size.runs):
            for engine in engines:
                if found[engine] is not None:
                    rows = self.one(engine, task, 1, case, *arguments)
                    found[engine] = None if rows is None else found[engine] + rows
        for engine, rows in found.items():
            if rows:
                self.add(engine, case, [{**rows[0], "values": [value for row in rows for value in row["values"]]}])

    def add(self, engine, case, rows):
        for row in rows:
            self.report.add(row.pop("figure"), title(engine), row.pop("values"), row.pop("unit"), case, **row)

    def one(self, engine, task, runs, case, *arguments):
        """The figures of one process; nothing, and why, if it did not end well."""
        why = self.tedium(engine, case)
        if why:
            return self.report.skip(f"{title(engine)}, {task}, {case}", why)
        arguments = [argument(engine) if callable(argument) else str(argument) for argument in arguments]
        try:
            done = subprocess.run(self.commands[engine] + [task, str(runs)] + arguments,
                                  capture_output=True, text=True, timeout=self.size.seconds)
        except subprocess.TimeoutExpired:
            return self.report.skip(f"{title(engine)}, {task}, {case}", f"took more than {self.size.seconds} s")
        if done.returncode:
            why = last_line(done.stderr) or f"ended with {done.returncode}"
            return self.report.skip(f"{title(engine)}, {task}, {case}", why)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def tedium(self, engine, case):
        if engine in ENGINES and not self.size.edits:
            for trace, why in ENGINES[engine].tedious.items():
                if trace in case:
                    return why
        return None

    # What is measured

    def replay(self, name):
        path = self.solo(name)
        self.each("replay-each", name, path)
        able = [engine for engine in self.commands if not self.is_bulky(engine, name, path)]
        self.each("replay-whole", name, path, engines=able)

    def is_bulky(self, engine, name, path):
        limit = ENGINES[engine].bulk_limit if engine in ENGINES else None
        if limit is None or len(traces.Reader(path).solo().patches) <= limit:
            return False
        self.report.skip(f"{title(engine)}, replay-whole, {name}", "time grows with the square of an open transaction's edits")
        return True

    def sizes(self, name):
        """Bytes, what opening them takes, and memory."""
        path = self.solo(name)

        def prefix(engine):
            return os.path.join(self.folder, f"{engine}.{name}")

        written = self.each("encode", name, path, prefix)
        for form in dict.fromkeys(form for engine in written for form in forms(engine)):
            able = [engine for engine in written if form in forms(engine)]
            self.each("load", name, form, lambda engine: f"{prefix(engine)}.{form}", path, engines=able)
            self.gathered("memory-load", name, form, lambda engine: f"{prefix(engine)}.{form}", path, engines=able)
        self.gathered("memory-replay", name, path, engines=written)

    def last(self, name):
        path = self.solo(name)
        self.each("delta", name, path)
        self.each("live", name, path)

    def shared(self):
        path = self.flat(traces.load(traces.find(SHARED, self.places)), f"{SHARED}.shared")
        self.each("shared", SHARED, path)

    def apart(self):
        left, right = (self.solo(name) for name in APART)
        nothing = self.flat(traces.Solo([], ""), "nothing.solo")
        case = " + ".join(APART)
        self.each("apart", case, nothing, left, right)
        self.each("apart-each", case, nothing, left, right, engines=self.only_ours)

    def growth(self):
        """Two texts of one origin, edited all over on both sides, more and more."""
        length = self.size.length
        base = self.flat(traces.Solo([(0, 0, traces.prose(length, SEED))], ""), "base.solo")
        for count in self.size.growth:
            left, right = (self.flat(traces.Solo(traces.scattered(length, count, SEED + side), ""), f"{count}.{side}.solo")
                           for side in (1, 2))
            case = f"{length:,} characters, {count:,} edits each"
            self.unless_given_up("apart", case, base, left, right)
            self.unless_given_up("apart-each", case, base, left, right, engines=self.only_ours)

    def worst(self):
        base = self.flat(traces.Solo([(0, 0, traces.prose(1_000, SEED))], ""), "short.solo")
        for count in self.size.backwards:
            left, right = (self.flat(traces.Solo([(500, 0, letter)] * count, ""), f"{count}.{letter}.solo") for letter in "ab")
            self.unless_given_up("apart", f"{count:,} letters typed backwards each, in one place", base, left, right)
        for task, counts in (("branches", self.size.branches), ("turns", self.size.turns)):
            for count in counts:
                self.unless_given_up(task, f"{count:,}", count)

    def unless_given_up(self, task, case, *arguments, engines=None):
        able = [engine for engine in (self.commands if engines is None else engines) if (task, engine) not in self.has_given_up]
        done = self.each(task, case, *arguments, engines=able)
        self.has_given_up |= {(task, engine) for engine in able if engine not in done}

    def run(self, groups):
        for name in self.size.traces:
            try:
                self.solo(name)
            except traces.Missing as missing:
                self.report.skip(name, str(missing))
                continue
            for group, part in (("replay", self.replay), ("size", self.sizes), ("last", self.last)):
                if group in groups:
                    part(name)
        for group in ("shared", "apart", "growth", "worst"):
            if group in groups:
                getattr(self, group)()


def title(engine):
    return ENGINES[engine].title if engine in ENGINES else OURS


def forms(engine):
    return ENGINES[engine].formats if engine in ENGINES else ("document", "delta")


def last_line(text):
    lines = text.strip().splitlines()
    return lines[-1] if lines else ""


def starters(report, names, plots):
    """Engine → the beginning of its command; what cannot take part is said."""
    commands = {}
    driver = os.path.join(BINARIES, "TextRace")
    if "ours" in names:
        if os.access(driver, os.X_OK):
            commands["ours"] = [driver]
        else:
            report.skip(OURS, "TextRace is not built: swift build -c release --product TextRace")
    peers = Peers(os.path.join(ROOT, ".build", "text-peers"), os.path.join(HERE, "requirements.txt"))
    for engine in names:
        if engine in ENGINES:
            why = peers.install(ENGINES[engine].package)
            if why:
                report.skip(ENGINES[engine].title, why)
            else:
                commands[engine] = [peers.python, os.path.join(HERE, "peer.py"), engine]
    if plots:
        why = peers.install("matplotlib")
        if why:
            report.skip("picture", why)
            plots = False
    return commands, peers, plots


def plot(report, peers, length, path):
    """Time over edits, from what this run measured."""
    points = {}
    for row in report.rows:
        if row["figure"] == "apart_merge" and "edits each" in row["case"]:
            count = int(row["case"].split(", ")[-1].split()[0].replace(",", ""))
            points.setdefault(row["system"], []).append([count, row["median"], row["min"], row["max"]])
    if not points:
        return report.skip("picture", "the group growth was not run")
    subprocess.run([peers.python, os.path.join(HERE, "plot.py"), path, f"{length:,}"], input=json.dumps(points), text=True, check=True)
    report.note(f"picture: {os.path.relpath(path)}")


def arguments():
    parser = argparse.ArgumentParser(
        prog="deploy/bench text", description="Our text engine beside Yrs, Loro and Automerge on recorded editing traces.",
        epilog="Takes about half an hour. Markdown comes to standard output, progress to standard error.")
    parser.add_argument("groups", metavar="GROUP", nargs="*", help="of: " + " ".join(GROUPS) + " (default: all)")
    parser.add_argument("--quick", action="store_true", help="one run of little: does it work, not how fast is it")
    parser.add_argument("--json", metavar="FILE", help="also write every figure as a line of JSON")
    parser.add_argument("--plot", action="store_true", help="also draw the growth as Tests/Benchmarks/text-merge.png")
    parser.add_argument("--engines", default="ours," + ",".join(ENGINES), help="default: %(default)s")
    parser.add_argument("--traces", metavar="DIR", default=os.environ.get("LANYARD_TRACES"),
                        help="where automerge-paper.json.gz is, or LANYARD_TRACES (no licence to copy it: " + traces.SOURCE + ")")
    options = parser.parse_args()
    options.engines = options.engines.split(",")
    for name in options.groups:
        if name not in GROUPS:
            parser.error(f"there is no group '{name}'; there are: {' '.join(GROUPS)}")
    for name in options.engines:
        if name != "ours" and name not in ENGINES:
            parser.error(f"there is no engine '{name}'; there are: ours {' '.join(ENGINES)}")
    return options


def main():
    options = arguments()
    report, size = RaceReport(options.json), Size(options.quick)
    commands, peers, plots = starters(report, options.engines, options.plot)
    versions = [f"{ENGINES[engine].release} in {ENGINES[engine].package} {peers.version(ENGINES[engine].package)}"
                for engine in commands if engine in ENGINES]
    print(f"{time.strftime('%Y-%m-%d')} · {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} · "
          f"{platform.freedesktop_os_release()['PRETTY_NAME']} · medians of {size.runs} (least–greatest) · "
          f"beside {', '.join(versions) or 'nobody'}"
          + (f" · quick: the first {size.edits:,} edits of {', '.join(size.traces)} alone" if options.quick else ""), flush=True)
    with tempfile.TemporaryDirectory(prefix="lanyard-text-race.") as folder:
        Race(report, size, commands, folder, options.traces).run(options.groups or GROUPS)
    if plots:
        plot(report, peers, size.length, QUICK_PICTURE if options.quick else PICTURE)
    report.table(judges=not options.quick)
    return 0 if "ours" in commands or "ours" not in options.engines else 1


if __name__ == "__main__":
    sys.exit(main())
