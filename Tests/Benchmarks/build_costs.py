#!/usr/bin/env python3
"""Runs a command that builds and prints what each module cost, in processor seconds.

    git clone . /tmp/fresh && cd /tmp/fresh && python3 Tests/Benchmarks/build_costs.py deploy/demo

Compilers whose arguments lie below the working folder are looked at five times a second; what ends between two looks is missed,
some two per cent of the whole.
"""
import os
import re
import subprocess
import sys
import time

TICKS = os.sysconf("SC_CLK_TCK")
COMPILERS = re.compile(r"(swift-frontend|swiftc|clang|clang\+\+|clang-\d+|ld\.gold|ld\.lld|lld)$")


def module_of(command):
    """The name of what a compiler works on, or of the compiler where it does not say."""
    for pattern in (r"-module-name (\S+)", r"/([\w-]+)\.build/"):
        if found := re.search(pattern, command):
            return found.group(1)
    return os.path.basename(command.split(" ", 1)[0])


def look(folder, seen):
    """Records in `seen` the seconds that each running compiler has had; by process and its start."""
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{process}/cmdline") as file:
                words = file.read().split("\0")
            command = " ".join(words)
            if not COMPILERS.match(os.path.basename(words[0])) or folder not in command:
                continue
            with open(f"/proc/{process}/stat") as file:
                fields = file.read().rsplit(")", 1)[1].split()
            seen[process, fields[19]] = (module_of(command), (int(fields[11]) + int(fields[12])) / TICKS)
        except OSError:
            continue  # It has just ended.


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    seen, started = {}, time.monotonic()
    with subprocess.Popen(sys.argv[1:]) as building:
        while building.poll() is None:
            look(os.getcwd() + "/", seen)
            time.sleep(0.2)
    costs = {}
    for module, seconds in seen.values():
        costs[module] = costs.get(module, 0) + seconds
    for module, seconds in sorted(costs.items(), key=lambda cost: -cost[1]):
        print(f"{seconds:8.1f}  {module}")
    print(f"{sum(costs.values()):8.1f}  all, in {time.monotonic() - started:.0f} s")
    sys.exit(building.returncode)


if __name__ == "__main__":
    main()
