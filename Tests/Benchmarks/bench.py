"""Runs figures and baselines and prints one table. Started by deploy/bench, as root."""
import argparse
import os
import platform
import sys
import time
import traceback

import attachments
import baselines
import beside
import book
import migrate
import objects
import ours
import planning
import queries
import scrape
import state
import strangers
from report import Report

OURS = ["discovery", "latency", "emit", "catchup", "memory", "start", "traffic", "puts", "merge", "edits", "planning",
        "book", "attachments", "state", "queries", "scrape", "strangers", "migrate"]
BASELINES = ["sqlite", "floor", "postgres", "redis"]
# Only for who names them: they fill disks.
LARGE = ["huge"]


def main():
    known = OURS + BASELINES + LARGE
    parser = argparse.ArgumentParser(
        prog="deploy/bench", description="Lanyard's figures beside baselines of the same run.",
        epilog="deploy/bench text: the text engine beside Yrs, Loro and Automerge; has options of its own (text --help)")
    parser.add_argument(
        "names", metavar="NAME", nargs="*", help=f"of: {' '.join(known)} (default: all but {' '.join(LARGE)})")
    parser.add_argument("--quick", action="store_true", help="one run of a small log: does it work, not how fast is it")
    parser.add_argument("--json", metavar="FILE", help="also write every figure as a line of JSON")
    parser.add_argument(
        "--beside", metavar="DIRECTORY", help="measure this build and the one whose binaries are there, by turns")
    options = parser.parse_args()
    for name in options.names:
        if name not in known:
            parser.error(f"there is no figure '{name}'; there are: {' '.join(known)}")
    if options.beside:
        return beside.compare(options.beside, options.names or OURS, options.quick)
    names = set(options.names or OURS + BASELINES)
    report, size = Report(options.json), ours.Size(options.quick)
    print(f"{time.strftime('%Y-%m-%d')} · {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} · {platform.freedesktop_os_release()['PRETTY_NAME']} · "
          f"{size.events:,} events and {size.objects:,} objects of 150 bytes, {size.runs} runs after a warm-up", flush=True)
    failed = False
    for wanted, name, part in parts(report, names, size):
        if wanted & names:
            failed |= attempt(report, name, part)
    report.table()
    return 1 if failed else 0


def parts(report, names, size):
    """What is compared stands side by side: a shared machine is another one a minute later."""
    def floor(measure):
        return lambda: baselines.floor(report, size, measure)

    def disk(when):
        return lambda: baselines.disk(report, when)

    return [
        ({"memory", "traffic", "discovery"}, "small world", lambda: ours.small_world(report, names, size)),
        ({"latency", "floor"}, "disk", disk("before the latencies")),
        ({"floor"}, "floor in C, latency", floor(baselines.floor_latency)),
        ({"latency"}, "latency", lambda: ours.latency(report, size)),
        ({"emit"}, "emit", lambda: ours.emit(report, size)),
        ({"sqlite"}, "SQLite", lambda: baselines.sqlite(report, size)),
        ({"sqlite", "emit"}, "disk", disk("before the batches")),
        ({"sqlite"}, "SQLite in batches", lambda: baselines.sqlite_batches(report, size)),
        ({"puts", "merge", "edits"}, "disk", disk("before the objects")),
        ({"puts"}, "objects put", lambda: objects.measure_puts(report, size)),
        ({"puts"}, "SQLite, objects put", lambda: objects.sqlite_puts(report, size)),
        ({"merge"}, "objects merged", lambda: objects.measure_merge(report, size)),
        ({"merge"}, "SQLite, objects merged", lambda: objects.sqlite_merge(report, size)),
        ({"edits"}, "small edits", lambda: objects.measure_small_edits(report, size)),
        ({"edits"}, "SQLite, small edits", lambda: objects.sqlite_small_edits(report, size)),
        ({"planning"}, "large values", lambda: planning.measure(report, size)),
        ({"book"}, "long text", lambda: book.measure(report, size)),
        ({"attachments"}, "disk", disk("before the attachments")),
        ({"attachments"}, "attachments", lambda: attachments.measure(report, size)),
        ({"state"}, "state and compaction", lambda: state.measure(report, size)),
        ({"queries"}, "queries", lambda: queries.measure(report, size)),
        ({"scrape"}, "a scrape of metrics", lambda: scrape.measure(report, size)),
        ({"strangers"}, "strangers that knock", lambda: strangers.measure(report, size)),
        ({"migrate"}, "upgrades of a store", lambda: migrate.measure(report, size)),
        ({"huge"}, "attachment of 10 GiB", lambda: attachments.measure_huge(report, size)),
        # Before ours: a disk that has just taken our gigabyte answers more slowly for minutes.
        ({"floor"}, "floor in C, catch-up", floor(baselines.floor_catch_up)),
        ({"catchup", "emit", "memory", "start", "traffic"}, "full world", lambda: ours.full_world(report, names, size)),
        ({"catchup", "floor"}, "disk", disk("after the catch-ups")),
        ({"postgres"}, "PostgreSQL", lambda: baselines.postgres(report, size)),
        ({"redis"}, "Redis", lambda: baselines.redis(report, size)),
    ]


def attempt(report, name, part):
    """One that fails is said, and the others go on."""
    try:
        part()
        return False
    except Exception as error:
        traceback.print_exc(file=sys.stderr)
        report.skip(name, f"failed: {error}")
        return True


if __name__ == "__main__":
    sys.exit(main())
