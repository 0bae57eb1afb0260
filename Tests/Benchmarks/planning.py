"""What planning one large value costs, for n and for 4n values, and how long others wait meanwhile."""
import json
import threading
import time

from world import World

PATH = "/v1/spaces/home/collections/large/objects/{}"

SHAPES = {
    "list of numbers": lambda count: list(range(count)),
    "list of lists of one": lambda count: [[number] for number in range(count)],
    "members": lambda count: {f"key{number}": number for number in range(count)},
}


def measure(report, size):
    """Seconds of one put; the factor is 4 where the cost grows with the size, and 16 where it grows with its square."""
    count = 2_000 if size.events < 1_000_000 else 10_000
    with World("benchp", 1) as world:
        control = world.control(1, timeout=600)
        for shape, value in SHAPES.items():
            spans = {}
            for values in (count, 4 * count):
                spans[values] = [put(control, f"{shape[-3:]}{values}x{run}", value(values)) for run in range(size.runs + 1)][1:]
                report.add(f"put of {values:,}, {shape}", "lanyard", spans[values], "s")
            factor = sorted(spans[4 * count])[size.runs // 2] / sorted(spans[count])[size.runs // 2]
            report.add(f"the same, four times as many: factor, {shape}", "lanyard", [factor], "")
            rewritten = list(reversed(value(4 * count))) if isinstance(value(1), list) else {
                key: number + 1 for key, number in value(4 * count).items()}
            longest, span = beside(world, lambda: put(control, f"{shape[-3:]}{4 * count}x0", rewritten))
            report.add(f"{4 * count:,} changed, {shape}", "lanyard", [span], "s")
            report.add(f"longest small put beside it, {shape}", "lanyard", [longest], "s")
        control.close()


def put(control, name, value):
    body = json.dumps({"value": value}).encode()
    begun = time.perf_counter()
    status, answer = control.request("PUT", PATH.format(name), body)
    if status != 200:
        raise RuntimeError(f"put: {status} {answer[:300]!r}")
    return time.perf_counter() - begun


def beside(world, work):
    """(seconds of the longest of small puts that follow each other while `work` runs, what `work` gives)"""
    spans, over = [], threading.Event()

    def small():
        control = world.control(1, timeout=600)
        while not over.is_set():
            spans.append(put(control, "small", len(spans)))
            time.sleep(0.005)
        control.close()

    thread = threading.Thread(target=small)
    thread.start()
    try:
        answer = work()
    finally:
        over.set()
        thread.join()
    return max(spans), answer
