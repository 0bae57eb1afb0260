"""The figures of a race as Markdown: a table for each, engines side by side.

`tables.py FILE…` prints those that `--json` kept, of several runs of different groups as if they were one.
"""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from engines import ENGINES  # noqa: E402
from goals import GOALS, TITLES  # noqa: E402
from report import Report, number  # noqa: E402

OURS = "Lanyard"
ORDER = [OURS] + [engine.title for engine in ENGINES.values()]


class RaceReport(Report):
    """Keeps rows as the other benches do; `case` is the trace or size, `form` which encoding of an engine."""

    def add(self, figure, system, values, unit, case, form=None, **more):
        return super().add(figure, system, values, unit, case=case, form=form, **more)

    def of(self, figure, case, system, form=None):
        """Without a form: the first there is, which is the one that an engine recommends."""
        for row in self.rows:
            if (row["figure"], row["case"], row["system"]) == (figure, case, system) and form in (None, row["form"]):
                return row
        return None

    def read(self, path):
        with open(path) as file:
            for row in map(json.loads, file):
                if "skipped" in row:
                    self.skipped.append((row["skipped"], row["why"]))
                else:
                    self.rows.append(row)

    def table(self, judges=True):
        """`judges`: whether the goals are for what was measured."""
        for figure, title in TITLES.items():
            rows = [row for row in self.rows if row["figure"] == figure]
            if rows:
                print(f"\n### {title}, {rows[0]['unit']}\n")
                print_markdown(self.side_by_side(figure, rows))
        if judges:
            print("\n### Goals\n")
            print_markdown(self.goals())
        if self.skipped:
            print("\n### Skipped\n")
            for what, why in self.skipped:
                print(f"- {what}: {why}")

    def side_by_side(self, figure, rows):
        columns = list(dict.fromkeys((row["system"], row["form"]) for row in rows))
        columns.sort(key=lambda column: ORDER.index(column[0]))
        compares = columns[0][0] == OURS
        head = [""]
        for system, form in columns:
            head.append(f"{system}, {form}" if form else system)
            if compares and system != OURS:
                head.append("ours / it")
        yield head
        for case in dict.fromkeys(row["case"] for row in rows):
            ours, line = self.of(figure, case, OURS), [case]
            for system, form in columns:
                row = self.of(figure, case, system, form)
                line.append(with_spread(row))
                if compares and system != OURS:
                    line.append(f"{ours['median'] / row['median']:.3g}" if ours and row and row["median"] else "")
            yield line

    def goals(self):
        yield ["figure", "on", "goal", "measured", ""]
        for goal in GOALS:
            row, limit = self.of(goal.figure, goal.case, OURS, goal.form), goal.limit
            line = [TITLES[goal.figure], goal.case]
            unit = row["unit"] if row else ""
            if goal.engine:
                line.append(f"≤ {limit:.3g} × {goal.engine}")
                peer = self.of(goal.figure, goal.case, goal.engine)
                limit = limit * peer["median"] if peer else None
                measured = f"{row['median'] / peer['median']:.3g} ×" if row and peer else ""
            else:
                line.append(f"≤ {number(limit)} {unit}")
                measured = f"{number(row['median'])} {unit}" if row else ""
            if row is None or limit is None:
                yield line + ["", "not measured"]
            else:
                yield line + [measured, "met" if row["median"] <= limit else "**not met**"]


def with_spread(row):
    if row is None:
        return "–"
    text = number(row["median"])
    if row["min"] != row["max"]:
        text += f" ({number(row['min'])}–{number(row['max'])})"
    return text


def print_markdown(lines):
    for index, line in enumerate(lines):
        print("| " + " | ".join(line) + " |")
        if index == 0:
            print("|---" * len(line) + "|")


if __name__ == "__main__":
    kept = RaceReport(None)
    for path in sys.argv[1:]:
        kept.read(path)
    kept.table()
