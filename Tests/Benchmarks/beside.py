"""Two builds of Lanyard, measured by turns in one run: `deploy/bench --beside DIRECTORY NAME…`."""
import json
import os
import statistics
import subprocess
import sys
import tempfile

from report import number
from world import BINARIES

ROUNDS = 3


def compare(other, names, quick):
    """Measures this build and the one whose binaries are in `other`, by turns, and prints a table of medians.

    Which one is first changes with each round, since a disk that has just taken a gigabyte answers more slowly.
    """
    other = os.path.realpath(other)
    for name in ("lanyard", "lanyardd"):
        if not os.access(os.path.join(other, name), os.X_OK):
            sys.exit(f"bench: there is no program {name} in {other}: name the folder of a build, as .build/release is one")
    builds, figures, failed = [("this", BINARIES), ("other", other)], {}, False
    for turn in range(ROUNDS):
        for build, binaries in builds if turn % 2 == 0 else builds[::-1]:
            print(f"round {turn + 1} of {ROUNDS}: {build} ({binaries})", file=sys.stderr, flush=True)
            rows, failed_now = _measure(binaries, names, quick)
            failed |= failed_now
            for row in rows:
                values = figures.setdefault((row["figure"], row["unit"]), {"this": [], "other": []})
                values[build].append(row["median"])
    _print(figures)
    return 1 if failed else 0


def _measure(binaries, names, quick):
    """Returns the rows of one run that are ours, and whether something failed."""
    with tempfile.NamedTemporaryFile("r", suffix=".json") as file:
        status = subprocess.run(
            [sys.executable, os.path.join(os.path.dirname(__file__), "bench.py"), *names, "--json", file.name,
             *(["--quick"] if quick else [])],
            env=dict(os.environ, RIG_BINARIES=binaries), stdout=subprocess.DEVNULL).returncode
        rows = [json.loads(line) for line in file]
    return [row for row in rows if row.get("system") == "lanyard"], status != 0


def _print(figures):
    lines = [("figure", "unit", "this", "other", "this/other", "by rounds")]
    for (figure, unit), values in figures.items():
        if not values["this"] or not values["other"]:
            print(f"skipped {figure}: measured by one of the two builds only")
            continue
        this, other = statistics.median(values["this"]), statistics.median(values["other"])
        rounds = " ".join(f"{number(a)}|{number(b)}" for a, b in zip(values["this"], values["other"]))
        lines.append((figure, unit, number(this), number(other), f"{this / other:.2f}" if other else "", rounds))
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    for line in lines:
        print("  ".join(
            cell.rjust(width) if column in (2, 3, 4) else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(line, widths))).rstrip())
