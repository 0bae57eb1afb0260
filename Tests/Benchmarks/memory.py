"""What a process holds of memory, and a map of what takes it."""
import re


def resident_kib(pid):
    """VmRSS and PSS."""
    status = open(f"/proc/{pid}/status").read()
    rollup = open(f"/proc/{pid}/smaps_rollup").read()
    return (int(re.search(r"VmRSS:\s+(\d+)", status)[1]), int(re.search(r"^Pss:\s+(\d+)", rollup, re.M)[1]))


def cpu_milliseconds(pid):
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) * 10


def _kind(name, permissions):
    if name == "[heap]":
        return "heap (main arena)"
    if name == "[stack]":
        return "main stack"
    if not name:
        return "anonymous (malloc arenas, thread stacks)"
    if name.startswith("["):
        return "kernel pages"
    base = name.rsplit("/", 1)[-1]
    if "lanyardd" in base:
        kind = "lanyardd"
    elif re.search(r"\.so", base):
        kind = "libraries"
    else:
        kind = "mapped files (" + base.split("-")[-1] + ")"
    return f"{kind}, {'code' if 'x' in permissions else 'data' if 'w' in permissions else 'constants'}"


def groups(pid):
    """[(kind, RSS KiB, private KiB)], the largest first."""
    sums, kind = {}, None
    for line in open(f"/proc/{pid}/smaps"):
        head = re.match(r"^[0-9a-f]+-[0-9a-f]+ (\S+) \S+ \S+ \d+\s*(.*)$", line)
        if head:
            kind = _kind(head[2].strip(), head[1])
            continue
        field = re.match(r"^(Rss|Private_Clean|Private_Dirty):\s+(\d+)", line)
        if field:
            entry = sums.setdefault(kind, [0, 0])
            entry[0 if field[1] == "Rss" else 1] += int(field[2])
    return sorted(((k, a, b) for k, (a, b) in sums.items() if a), key=lambda row: -row[1])


def threads(pid):
    import os
    names = {}
    for task in os.listdir(f"/proc/{pid}/task"):
        name = open(f"/proc/{pid}/task/{task}/comm").read().strip()
        names[name] = names.get(name, 0) + 1
    return names


def forget_peak(pid):
    """From now on `peak_kib` counts anew."""
    with open(f"/proc/{pid}/clear_refs", "w") as file:
        file.write("5")


def peak_kib(pid):
    return int(re.search(r"VmHWM:\s+(\d+)", open(f"/proc/{pid}/status").read())[1])


def written_bytes(pid):
    """What the process caused to be written to the disk."""
    return int(re.search(r"^write_bytes: (\d+)", open(f"/proc/{pid}/io").read(), re.M)[1])
