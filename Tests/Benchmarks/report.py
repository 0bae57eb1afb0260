"""Figures as they are measured, their goals, and the table at the end."""
import json
import statistics
import sys


class Report:
    def __init__(self, path):
        self.file = open(path, "w") if path else None
        self.rows, self.skipped = [], []

    def note(self, text):
        print(f"  {text}", file=sys.stderr, flush=True)

    def skip(self, what, why):
        self.skipped.append((what, why))
        self._write({"skipped": what, "why": why})
        self.note(f"skipped {what}: {why}")

    def add(self, figure, system, values, unit, goal=None, most=True, **more):
        """`values`: one per run. `goal`: the greatest allowed, or with `most` false the least."""
        values = values if isinstance(values, list) else [values]
        row = {
            "figure": figure, "system": system, "median": statistics.median(values), "min": min(values),
            "max": max(values), "unit": unit, "runs": len(values), "goal": goal, "goalIs": "most" if most else "least",
            **more}
        row["met"] = None if goal is None else (row["median"] <= goal if most else row["median"] >= goal)
        self.rows.append(row)
        self._write(row)
        self.note(f"{figure} · {system}: {number(row['median'])} {unit} ({number(row['min'])} to {number(row['max'])})")
        return row

    def _write(self, value):
        if self.file:
            self.file.write(json.dumps(value, ensure_ascii=False) + "\n")
            self.file.flush()

    def table(self):
        """Ours first, then every baseline of the same figure with its ratio to ours."""
        lines = [("figure", "system", "median", "min", "max", "unit", "goal", "ours/it")]
        for figure in dict.fromkeys(row["figure"] for row in self.rows):
            rows = [row for row in self.rows if row["figure"] == figure]
            ours = next((row for row in rows if row["system"] == "lanyard"), None)
            for row in sorted(rows, key=lambda row: row is not ours):
                goal, ratio = "", ""
                if row["goal"] is not None:
                    sign = "≤" if row["goalIs"] == "most" else "≥"
                    goal = f"{sign} {number(row['goal'])} {'met' if row['met'] else 'NOT MET'}"
                if ours and row is not ours and row["median"]:
                    ratio = f"{ours['median'] / row['median']:.2f}"
                lines.append((
                    figure if row is rows[0] or row is ours else "", row["system"], number(row["median"]), number(row["min"]),
                    number(row["max"]), row["unit"], goal, ratio))
        widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
        for line in lines:
            cells = [
                cell.rjust(width) if column in (2, 3, 4, 7) else cell.ljust(width)
                for column, (cell, width) in enumerate(zip(line, widths))]
            print("  ".join(cells).rstrip())
        for what, why in self.skipped:
            print(f"skipped {what}: {why}")


def number(value):
    if isinstance(value, float) and abs(value) < 100:
        return f"{value:.2f}" if abs(value) >= 0.1 else f"{value:.3f}"
    return f"{value:,.0f}"


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(share / 100 * len(values)))]
