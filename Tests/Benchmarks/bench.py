"""Runs figures and baselines and prints one table. Started by deploy/bench, as root."""
import argparse
import os
import platform
import sys
import time
import traceback

import baselines
import ours
from report import Report

OURS = ["catchup", "latency", "emit", "memory", "start", "traffic", "discovery"]


def main():
    known = OURS + list(baselines.ALL)
    parser = argparse.ArgumentParser(prog="deploy/bench", description="Lanyard's figures beside baselines of the same run.")
    parser.add_argument("names", metavar="NAME", nargs="*", help="of: " + " ".join(known) + " (default: all)")
    parser.add_argument("--quick", action="store_true", help="one run of a small log: does it work, not how fast is it")
    parser.add_argument("--json", metavar="FILE", help="also write every figure as a line of JSON")
    options = parser.parse_args()
    for name in options.names:
        if name not in known:
            parser.error(f"there is no figure '{name}'; there are: {' '.join(known)}")
    names = set(options.names or known)
    report, size = Report(options.json), ours.Size(options.quick)
    print(f"{time.strftime('%Y-%m-%d')} · {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} · {platform.freedesktop_os_release()['PRETTY_NAME']} · "
          f"{size.events:,} events of 150 bytes, {size.runs} runs after a warm-up", flush=True)
    failed = False
    for name, part in baselines.ALL.items():
        if name in names:
            failed |= attempt(report, name, lambda: part(report, size))
    failed |= attempt(report, "lanyard", lambda: ours.run(report, names, size))
    report.table()
    return 1 if failed else 0


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
