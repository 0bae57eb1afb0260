"""The upgrade of a store that an older version wrote: a million changes, of which three in ten are puts of 100,000 objects."""
import contextlib
import json
import os
import shutil
import sqlite3
import tempfile
import time

from control import Control
from ours import emit_lines
from scrape import Local

GOAL_S = 10.0
# What undoes the newest steps of the schema (Sources/SyncStore/Schema), by their numbers: a store that has them becomes one of
# an older program.
UNDONE = {
    21: ["ALTER TABLE space DROP COLUMN indexes_absent"],
    22: ["ALTER TABLE space DROP COLUMN keeps_trust", "DROP TABLE trust"],
    23: [
        "ALTER TABLE space DROP COLUMN founder", "ALTER TABLE space DROP COLUMN own",
        "ALTER TABLE space DROP COLUMN recovery_key", "ALTER TABLE ticket DROP COLUMN role",
    ],
    24: ["DROP INDEX replica_with_strict_end", "ALTER TABLE replica DROP COLUMN strict_end"],
    25: ["ALTER TABLE ticket DROP COLUMN until"],
}
# Tables derived by these rules are derived anew (`Derivation`). Those of the rules after them stand where a log has no statements.
DERIVED_BEFORE = 6


def measure(report, size):
    with tempfile.TemporaryDirectory(prefix="lanyard-migrate-") as folder:
        os.chmod(folder, 0o700)
        written = Local(folder, "written")
        written.start()
        try:
            report.note(f"writing {size.events:,} changes")
            fill(written, size.events)
        finally:
            written.stop()
            written.log.close()
        for what, change in (("of its schema", undo_newest_steps), ("of all tables", derive_again)):
            spans, waits = [], []
            for run in range(size.runs + 1):
                span, wait = upgrade(folder, written.directory, change)
                if run > 0:
                    spans.append(span)
                    waits.append(wait)
            report.add(f"upgrade {what}, {size.events:,} changes", "lanyard", spans, "s", goal=GOAL_S)
            report.add(f"longest wait for a read meanwhile, upgrade {what}", "lanyard", waits, "s")


def fill(agent, changes):
    control = Control(agent.path, timeout=1_800)
    try:
        control.json("PUT", "/v1/spaces/home/collections/item/schema", {"indexed": ["n"]})
        objects = changes // 10
        emit_lines(control, "readings", [json.dumps({"n": number, "value": number * 7 % 1000}) for number in range(objects * 7)])
        for turn in range(3):
            lines = (json.dumps({"id": f"item-{number:06}", "n": number * turn, "title": f"thing {number}", "turn": turn})
                     for number in range(objects))
            status, answer = control.request(
                "POST", "/v1/spaces/home/collections/item/objects", "\n".join(lines).encode(), kind="application/x-ndjson")
            if status != 200:
                raise RuntimeError(f"objects were not written: {status} {answer[:200]!r}")
    finally:
        control.close()


def undo_newest_steps(database):
    version = database.execute("PRAGMA user_version").fetchone()[0]
    while version in UNDONE:
        for statement in UNDONE[version]:
            database.execute(statement)
        version -= 1
    if version >= min(UNDONE):
        raise RuntimeError(f"what undoes step {version} of the schema is not written down in migrate.py")
    database.execute(f"PRAGMA user_version = {version}")


def derive_again(database):
    database.execute("UPDATE space SET derived = ?", (DERIVED_BEFORE,))


def upgrade(folder, directory, change):
    """(seconds until the agent is ready, the longest time without a read that was answered)"""
    old = Local(folder, "old")
    shutil.rmtree(old.directory, ignore_errors=True)
    shutil.copytree(directory, old.directory)
    with contextlib.closing(sqlite3.connect(os.path.join(old.directory, "lanyard.sqlite"))) as database, database:
        change(database)
    begun = last = time.perf_counter()
    longest = 0.0
    old.spawn()
    try:
        while not old.is_ready():
            now = time.perf_counter()
            if now - begun > 600:
                raise RuntimeError("the upgrade took longer than ten minutes")
            if reads(old):
                longest, last = max(longest, now - last), now
            time.sleep(0.02)
        ready = time.perf_counter()
        return ready - begun, max(longest, ready - last)
    finally:
        old.stop()
        old.log.close()


def reads(agent):
    """True if the agent reads an object."""
    try:
        control = Control(agent.path, timeout=5)
    except OSError:
        return False
    try:
        return control.request("GET", "/v1/spaces/home/collections/item/objects/item-000001")[0] == 200
    except OSError:
        return False
    finally:
        control.close()
