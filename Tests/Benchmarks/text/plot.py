"""Draws the growth of a merge: `plot.py PICTURE CHARACTERS`, from {system: [[edits, median, least, greatest]]} on standard input."""
import json
import math
import sys

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402

COLOURS = {"Lanyard": "#1b6e3c", "Yrs": "#b5651d", "Loro": "#4560a8", "Automerge": "#8a8a8a"}
GOAL = (10_000, 50)


def draw(points, path, length):
    figure, axes = pyplot.subplots(figsize=(7.2, 4.6), dpi=130)
    for system, rows in points.items():
        rows.sort()
        counts, medians = [row[0] for row in rows], [row[1] for row in rows]
        spread = [[row[1] - row[2] for row in rows], [row[3] - row[1] for row in rows]]
        axes.errorbar(counts, medians, spread, label=system, color=COLOURS.get(system), marker="o", markersize=4, capsize=3,
                      linewidth=2.2 if system == "Lanyard" else 1.2)
    if "Lanyard" in points:
        # n log n through our first point: who grows faster than that crosses it.
        counts, first = [row[0] for row in points["Lanyard"]], points["Lanyard"][0]
        scale = first[1] / (first[0] * math.log(first[0]))
        axes.plot(counts, [scale * count * math.log(count) for count in counts], color="#1b6e3c", linestyle=":",
                  label="n log n from our first point")
    if length == "100,000":
        axes.plot(*GOAL, marker="v", color="black", linestyle="none", label="goal: 50 ms at 10,000")
    axes.set(xscale="log", yscale="log", xlabel="offline edits on each side", ylabel="both sides merged, ms",
             title=f"Merging two texts of {length} characters")
    counts = sorted({row[0] for rows in points.values() for row in rows})
    axes.set_xticks(counts, [f"{count:,}" for count in counts])
    axes.minorticks_off()
    axes.grid(True, color="#dddddd", linewidth=0.6)
    axes.legend(frameon=False, fontsize=8)
    figure.tight_layout()
    figure.savefig(path)


if __name__ == "__main__":
    draw(json.load(sys.stdin), *sys.argv[1:])
