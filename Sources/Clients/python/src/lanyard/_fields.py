"""The fields of a class of objects: which replicated type each has, and its values as JSON."""

from __future__ import annotations

import copy
import dataclasses
import enum
import json
import math
import types
import typing
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar, Union

from .errors import LanyardError

T = TypeVar("T")


@dataclass(frozen=True)
class FieldKind:
    """The replicated type of a field, by its name in a schema. Stands in `Annotated`."""

    name: str


#: A number to which devices add; what they add apart adds up. `todo.opened += 1`, then save.
Counter = Annotated[int, FieldKind("counter")]
#: A text that devices edit at once, merged letter by letter.
Text = Annotated[str, FieldKind("text")]
#: A value that is set once and never changes.
Constant = Annotated[T, FieldKind("constant")]
#: A value that stays on this device.
Local = Annotated[T, FieldKind("local")]
#: A value that is replaced as a whole, for example `Register[list[str]]`.
Register = Annotated[T, FieldKind("register")]
#: A set from which nothing is removed.
AddOnlySet = Annotated[set[T], FieldKind("addOnlySet")]
#: A list in which a value stands once.
OrderedSet = Annotated[list[T], FieldKind("orderedSet")]

#: The types whose values are edited by position.
SEQUENCES = frozenset({"text", "list", "orderedSet"})
SETS = frozenset({"set", "addOnlySet"})
_SCALARS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}


class Mismatch(Exception):
    """A value that its field does not take. The message says what the value is and what the field takes."""


@dataclass(frozen=True)
class Field:
    """A field of a class."""

    name: str
    kind: str
    hint: Any

    def encode(self, value: Any) -> Any:
        """Returns the value as JSON, sets sorted. Raises `Mismatch`."""
        encoded = _convert(value, self.hint, to_json=True)
        if self.kind == "orderedSet" and len({canonical(element) for element in encoded}) < len(encoded):
            raise Mismatch("a value stands in it twice; an ordered set holds each once")
        return encoded

    def decode(self, value: Any) -> Any:
        """Returns the value of a field as it was read. Raises `Mismatch`."""
        return _convert(value, self.hint, to_json=False)

    def empty(self) -> Any:
        """Returns the JSON that stands for a field without a value; None for a register."""
        return {"counter": 0, "text": "", "dictionary": {}}.get(self.kind, [] if self._has_elements else None)

    @property
    def _has_elements(self) -> bool:
        return self.kind in SETS or self.kind in ("list", "orderedSet")


def canonical(value: Any) -> str:
    """Returns a text that is equal for equal JSON only: `1`, `1.0` and `true` differ."""
    return json.dumps(value, sort_keys=True, ensure_ascii=True)


def same(left: Any, right: Any) -> bool:
    """True if two JSON values are equal, and of equal types."""
    return canonical(left) == canonical(right)


def fields_of(cls: type) -> dict[str, Field]:
    """Returns the fields of a class by name. Raises a typed error for a class or a field that cannot be stored."""
    if cls not in _known:
        _known[cls] = _fields(cls)
    return _known[cls]


_known: dict[type, dict[str, Field]] = {}


def _fields(cls: type) -> dict[str, Field]:
    if "__dataclass_fields__" not in cls.__dict__:
        raise LanyardError("schema_invalid", f"{cls.__name__} is not a dataclass.", "Write @dataclass above the class.")
    hints = typing.get_type_hints(cls, include_extras=True)
    found: dict[str, Field] = {}
    for member in dataclasses.fields(cls):
        if member.name == "id" or not member.init:
            continue
        try:
            found[member.name] = _field(member.name, hints[member.name])
        except Mismatch as fault:
            raise LanyardError(
                "schema_invalid",
                f"{cls.__name__}.{member.name} cannot be stored: {fault}.",
                "Fields are str, int, float, bool, None, lists, sets and dictionaries of these, and Counter, Text …",
            ) from None
    return found


def _field(name: str, hint: Any) -> Field:
    kind: str | None = None
    while typing.get_origin(hint) is Annotated:
        hint, *notes = typing.get_args(hint)
        kind = next((note.name for note in notes if isinstance(note, FieldKind)), kind)
    _check_hint(hint)
    origin = typing.get_origin(hint) or hint
    if kind is None:
        kind = "register"
        for plain, name_of_kind in ((list, "list"), (set, "set"), (frozenset, "set"), (dict, "dictionary")):
            if origin is plain:
                kind = name_of_kind
    return Field(name, kind, hint)


def _check_hint(hint: Any) -> None:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint in (Any, None, type(None), *_SCALARS) or origin is Literal:
        return
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return
    if origin is dict and arguments[0] is not str:
        raise Mismatch("the keys of a dictionary are texts")
    if origin in (list, set, frozenset, dict, Union, types.UnionType):
        for argument in arguments:
            _check_hint(argument)
    elif hint not in (list, set, frozenset, dict):
        raise Mismatch(f"its type is {getattr(hint, '__name__', hint)}")


def _convert(value: Any, hint: Any, *, to_json: bool) -> Any:
    origin, arguments = typing.get_origin(hint) or hint, typing.get_args(hint)
    if origin in (Union, types.UnionType):
        return _first_that_fits(value, arguments, to_json=to_json)
    if origin is Literal:
        if any(value == choice and type(value) is type(choice) for choice in arguments):
            return value
        raise Mismatch(f"it is {_shown(value)}, and one of {', '.join(map(repr, arguments))} is expected")
    if hint is Any:
        # A copy, so that a change inside of the object's value is no change of what it was read with.
        return copy.deepcopy(value)
    if hint in (None, type(None)):
        return _expect(value, value is None, "null")
    if hint in _SCALARS:
        return _scalar(value, hint)
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return _enumerated(value, hint, to_json=to_json)
    if origin is dict:
        _expect(value, isinstance(value, dict) and all(isinstance(key, str) for key in value), "a dictionary")
        inner = arguments[1] if arguments else Any
        return {key: _convert(element, inner, to_json=to_json) for key, element in value.items()}
    return _elements(value, origin, arguments[0] if arguments else Any, to_json=to_json)


def _elements(value: Any, origin: Any, inner: Any, *, to_json: bool) -> Any:
    if origin is list:
        _expect(value, isinstance(value, list | tuple), "a list")
        return [_convert(element, inner, to_json=to_json) for element in value]
    expected = (set, frozenset) if to_json else list
    _expect(value, isinstance(value, expected), "a set")
    converted = [_convert(element, inner, to_json=to_json) for element in value]
    return sorted(converted, key=canonical) if to_json else origin(converted)


def _first_that_fits(value: Any, hints: tuple[Any, ...], *, to_json: bool) -> Any:
    faults = []
    for hint in hints:
        try:
            return _convert(value, hint, to_json=to_json)
        except Mismatch as fault:
            faults.append(str(fault))
    raise Mismatch(faults[0])


def _scalar(value: Any, hint: Any) -> Any:
    if hint is bool:
        return _expect(value, isinstance(value, bool), _SCALARS[bool])
    if hint is str:
        return _expect(value, isinstance(value, str), _SCALARS[str])
    _expect(value, isinstance(value, int if hint is int else int | float), _SCALARS[hint])
    _expect(value, not isinstance(value, bool), _SCALARS[hint])
    if isinstance(value, float) and not math.isfinite(value):
        raise Mismatch(f"it is {value}, which JSON does not have")
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise Mismatch("it does not fit into 64 bits")
    return float(value) if hint is float else value


def _enumerated(value: Any, hint: type[enum.Enum], *, to_json: bool) -> Any:
    if to_json:
        return _expect(value, isinstance(value, hint), f"a {hint.__name__}").value
    try:
        return hint(value)
    except ValueError:
        raise Mismatch(f"it is {_shown(value)}, which is no {hint.__name__}") from None


def _expect(value: Any, holds: bool, expected: str) -> Any:
    if holds:
        return value
    raise Mismatch(f"it is {_shown(value)}, and {expected} is expected")


def _shown(value: Any) -> str:
    """Returns the kind of a value; people's data do not belong into errors."""
    names = {dict: "a dictionary", list: "a list", set: "a set", type(None): "null", **_SCALARS}
    return names.get(type(value), f"a {type(value).__name__}")
