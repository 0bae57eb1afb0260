"""The least edits from one JSON value to another, and edits moved on to a value that changed meanwhile."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any

from ._fields import SEQUENCES, SETS, canonical, same
from .errors import LanyardError

#: The most pairs of equal elements that are compared; above, texts are compared by lines.
COMPARED_PAIRS = 1_000_000
#: The most operations with positions for one field; above, the field is set as a whole.
POSITIONED_OPERATIONS = 1_000

Edit = dict[str, Any]
#: Elements [start, end) of the old sequence are replaced by [new_start, new_end) of the new one.
Block = tuple[int, int, int, int]


def edits(kind: str, path: str, old: Any, new: Any) -> list[Edit]:
    """Returns the operations that make `new` of `old` in a field of that kind; none if they are equal."""
    if same(old, new):
        return []
    if kind == "counter":
        return [{"op": "increment", "path": path, "by": new - old}]
    if kind in SETS:
        return _set_edits(kind, path, old, new)
    if kind == "dictionary":
        return list(_dictionary_edits(path, old, new))
    if kind in SEQUENCES:
        return _sequence_edits(kind, path, old, new)
    return [{"op": "set", "path": path, "value": new}]


def _set_edits(kind: str, path: str, old: list[Any], new: list[Any]) -> list[Edit]:
    removed = _without(old, new)
    if removed and kind == "addOnlySet":
        raise LanyardError(
            "constant_field",
            f"An element was removed from {path}, an add-only set.",
            "Let it stay, or make the field a set.",
        )
    return [{"op": "add", "path": path, "value": value} for value in _without(new, old)] + [
        {"op": "remove", "path": path, "value": value} for value in removed
    ]


def _without(values: list[Any], others: list[Any]) -> list[Any]:
    known = {canonical(other) for other in others}
    return [value for value in values if canonical(value) not in known]


def _dictionary_edits(path: str, old: dict[str, Any], new: dict[str, Any]) -> Iterator[Edit]:
    for key in old.keys() - new.keys():
        yield {"op": "unset", "path": f"{path}/{_escaped(key)}"}
    for key, value in new.items():
        below = f"{path}/{_escaped(key)}"
        before = old.get(key)
        if isinstance(before, dict) and isinstance(value, dict):
            yield from _dictionary_edits(below, before, value)
        elif key not in old or not same(before, value):
            yield {"op": "set", "path": below, "value": value}


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def _sequence_edits(kind: str, path: str, old: Any, new: Any) -> list[Edit]:
    operations: list[Edit] = []
    # From the last block to the first: the positions of those before it stay right.
    for start, end, new_start, new_end in reversed(blocks(old, new)):
        if end > start:
            operations.append({"op": "delete", "path": path, "at": start, "count": end - start})
        if kind == "text" and new_end > new_start:
            operations.append({"op": "insert", "path": path, "at": start, "value": new[new_start:new_end]})
        elif kind != "text":
            operations += [
                {"op": "insert", "path": path, "at": start + offset, "value": value}
                for offset, value in enumerate(new[new_start:new_end])
            ]
    if len(operations) > POSITIONED_OPERATIONS:
        return [{"op": "set", "path": path, "value": new}]
    return operations


def blocks(old: Any, new: Any) -> list[Block]:
    """Returns the replaced parts of a text or a list, in ascending order."""
    if isinstance(old, str):
        left: Sequence[str] = old
        right: Sequence[str] = new
    else:
        left, right = [canonical(value) for value in old], [canonical(value) for value in new]
    shortest = min(len(left), len(right))
    before = 0
    while before < shortest and left[before] == right[before]:
        before += 1
    behind = 0
    while behind < shortest - before and left[-1 - behind] == right[-1 - behind]:
        behind += 1
    left, right = left[before : len(left) - behind], right[before : len(right) - behind]
    found = _compared(left, right)
    return [(a + before, b + before, c + before, d + before) for a, b, c, d in found]


def _compared(left: Sequence[str], right: Sequence[str]) -> list[Block]:
    if _equal_pairs(left, right) <= COMPARED_PAIRS:
        return _opcodes(left, right)
    if not isinstance(left, str) or not isinstance(right, str):
        return [(0, len(left), 0, len(right))]
    lines, new_lines = left.splitlines(keepends=True), right.splitlines(keepends=True)
    if _equal_pairs(lines, new_lines) > COMPARED_PAIRS:
        return [(0, len(left), 0, len(right))]
    at, new_at = _offsets(lines), _offsets(new_lines)
    return [(at[a], at[b], new_at[c], new_at[d]) for a, b, c, d in _opcodes(lines, new_lines)]


def _equal_pairs(left: Sequence[str], right: Sequence[str]) -> int:
    """Returns the number of pairs that a comparison looks at."""
    occurrences = Counter(right)
    return sum(occurrences[element] for element in left)


def _opcodes(left: Sequence[str], right: Sequence[str]) -> list[Block]:
    matcher = SequenceMatcher(None, left, right, autojunk=False)
    return [(a, b, c, d) for tag, a, b, c, d in matcher.get_opcodes() if tag != "equal"]


def _offsets(lines: list[str]) -> list[int]:
    offsets = [0]
    for line in lines:
        offsets.append(offsets[-1] + len(line))
    return offsets


def rebase(kind: str, base: Any, mine: Any, theirs: Any) -> Any:
    """Returns `theirs` with the edits that made `mine` of `base`, as if they had been made on `theirs`."""
    if same(base, mine):
        return theirs
    if kind == "counter":
        return theirs + mine - base
    if kind in SETS:
        kept = _without(theirs, _without(base, mine))
        return sorted(kept + _without(_without(mine, base), theirs), key=canonical)
    if kind == "dictionary":
        return _rebased_dictionary(base, mine, theirs)
    if kind in SEQUENCES:
        merged = _rebased_sequence(base, mine, theirs)
        return _each_once(merged) if kind == "orderedSet" else merged
    return mine


def _each_once(values: list[Any]) -> list[Any]:
    return list({canonical(value): value for value in values}.values())


def _rebased_dictionary(base: dict[str, Any], mine: dict[str, Any], theirs: dict[str, Any]) -> dict[str, Any]:
    merged = {key: value for key, value in theirs.items() if key in mine or key not in base}
    for key, value in mine.items():
        if key in base and same(base[key], value):
            continue
        sides = (base.get(key), value, theirs.get(key))
        merged[key] = rebase("dictionary", *sides) if all(isinstance(side, dict) for side in sides) else value
    return merged


def _rebased_sequence(base: Any, mine: Any, theirs: Any) -> Any:
    """Inserts behind the elements behind which they were inserted, and deletes what is still there."""
    # For each gap between elements of `base`, and its end: the place in `theirs` behind what stands before the gap.
    survives, behind, place = [False] * len(base), [0], 0
    for start, end, _, new_end in [*blocks(base, theirs), (len(base), len(base), len(theirs), len(theirs))]:
        for index in range(len(behind) - 1, start):
            survives[index] = True
            place += 1
            behind.append(place)
        behind += [place] * (end - start)
        place = new_end
    merged, copied = theirs[:0], 0
    pieces = []
    for start, end, new_start, new_end in blocks(base, mine):
        pieces.append(theirs[copied : max(copied, behind[start])])
        copied = max(copied, behind[start])
        pieces.append(mine[new_start:new_end])
        for index in range(start, end):
            if survives[index]:
                pieces.append(theirs[copied : behind[index + 1] - 1])
                copied = behind[index + 1]
    pieces.append(theirs[copied:])
    for piece in pieces:
        merged = merged + piece
    return merged
