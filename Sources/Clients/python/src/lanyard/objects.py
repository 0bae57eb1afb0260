"""Classes of objects: a dataclass whose fields are replicated."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Iterable
from dataclasses import MISSING, dataclass, field
from dataclasses import fields as dataclass_fields
from typing import Any, ClassVar, Self

from ._edits import Edit, edits, rebase
from ._fields import SEQUENCES, Field, Mismatch, fields_of
from .errors import LanyardError


def new_id() -> str:
    """Returns a fresh id: 128 random bits in 26 letters and digits."""
    return base64.b32encode(secrets.token_bytes(16)).decode().rstrip("=").lower()


@dataclass(frozen=True)
class Settings:
    """The settings of a collection, as the class statement gives them."""

    collection: str
    indexed: tuple[str, ...] = ()
    delete_policy: str | None = None


@dataclass(frozen=True)
class Memory:
    """The fields of an object as they were read, as JSON, and the version they are of."""

    fields: dict[str, Any]
    version: str


@dataclass(kw_only=True)
class LanyardObject:
    """The base of classes whose objects are stored. A subclass is a dataclass:

        @dataclass
        class Todo(LanyardObject):
            title: str = ""
            done: bool = False
            tags: set[str] = field(default_factory=set)
            opened: Counter = 0

    The collection is the name of the class with a small first letter, unless the class statement gives another:
    `class Todo(LanyardObject, collection="task", indexed=["done"], delete_policy="updateWins")`.

    Fields with `init=False` are not stored. An object remembers the fields that it was read with, so that saving it
    writes only what changed.
    """

    id: str = field(default_factory=new_id)

    _settings: ClassVar[Settings] = Settings("object")
    _memory: ClassVar[Memory | None] = None

    def __init_subclass__(
        cls,
        *,
        collection: str | None = None,
        indexed: Iterable[str] = (),
        delete_policy: str | None = None,
        **rest: Any,
    ) -> None:
        super().__init_subclass__(**rest)
        name = cls.__name__
        cls._settings = Settings(collection or name[:1].lower() + name[1:], tuple(indexed), delete_policy)

    @classmethod
    def collection_name(cls) -> str:
        """Returns the collection that the objects of this class are in."""
        return cls._settings.collection

    @classmethod
    def from_entry(cls, entry: dict[str, Any]) -> Self:
        """Makes an object of an answer of the agent.

        Raises `type_mismatch` for a value that its field does not take.
        """
        values, remembered = {}, {}
        defaults = {member.name: member for member in dataclass_fields(cls)}
        for name, member in fields_of(cls).items():
            if name in entry["fields"]:
                try:
                    values[name] = member.decode(entry["fields"][name])
                    remembered[name] = member.encode(values[name])
                except Mismatch as fault:
                    raise _mismatch(cls, entry["id"], name, fault) from None
            elif defaults[name].default is MISSING and defaults[name].default_factory is MISSING:
                raise _mismatch(
                    cls, entry["id"], name, Mismatch("it is not there, and the class has no default for it")
                )
        made = cls(id=entry["id"], **values)
        object.__setattr__(made, "_memory", Memory(remembered, entry["version"]))
        return made


def encoded(subject: LanyardObject) -> dict[str, Any]:
    """Returns the fields of an object as JSON. Raises `type_mismatch` with the name of the object and of the field."""
    result = {}
    for name, member in fields_of(type(subject)).items():
        try:
            result[name] = member.encode(getattr(subject, name))
        except Mismatch as fault:
            raise _mismatch(type(subject), subject.id, name, fault) from None
    return result


def _mismatch(cls: type[LanyardObject], identity: str, name: str, fault: Mismatch) -> LanyardError:
    return LanyardError(
        "type_mismatch",
        f"{cls.collection_name()}/{identity} has a wrong value in {name}: {fault}.",
        f"Set a value of the type that {cls.__name__}.{name} has.",
    )


@dataclass(frozen=True)
class Plan:
    """The writes that save an object: all of its fields, or edits of those that changed."""

    wanted: dict[str, Any]
    #: None for an object that was never read: all fields are put.
    operations: list[Edit] | None
    #: The version that edits with positions are made for.
    if_version: str | None


def plan(subject: LanyardObject) -> Plan:
    """Returns what saving `subject` writes, as it is now."""
    wanted = encoded(subject)
    memory = subject._memory
    if memory is None:
        return Plan(wanted, None, None)
    return _edits_since(subject, memory, wanted)


def first_fields(cls: type[LanyardObject], wanted: dict[str, Any]) -> dict[str, Any]:
    """Returns the fields with which an object begins: a constant that is None is left to be set later."""
    kinds = {name: member.kind for name, member in fields_of(cls).items()}
    return {name: value for name, value in wanted.items() if value is not None or kinds[name] != "constant"}


def _edits_since(subject: LanyardObject, memory: Memory, wanted: dict[str, Any]) -> Plan:
    operations: list[Edit] = []
    is_positional = False
    for member, old in _before(subject, memory):
        found = edits(member.kind, member.name, old, wanted[member.name])
        is_positional = is_positional or (bool(found) and member.kind in SEQUENCES)
        operations += found
    return Plan(wanted, operations, memory.version if is_positional else None)


def _before(subject: LanyardObject, memory: Memory) -> Iterable[tuple[Field, Any]]:
    """Yields each field with the value it was read with, or that stands for none."""
    for name, member in fields_of(type(subject)).items():
        yield member, memory.fields.get(name, _unset(type(subject), member))


def _unset(cls: type[LanyardObject], member: Field) -> Any:
    if (empty := member.empty()) is not None:
        return empty
    for each in dataclass_fields(cls):
        if each.name == member.name and each.default is not MISSING:
            return member.encode(each.default)
        if each.name == member.name and each.default_factory is not MISSING:
            return member.encode(each.default_factory())
    return None


def take(subject: LanyardObject, sent: dict[str, Any], entry: dict[str, Any]) -> None:
    """Brings an object up to date with an answer. What was changed in it since `sent` was made stays changed."""
    fresh = type(subject).from_entry(entry)
    now = encoded(subject)
    assert fresh._memory is not None
    for name, member in fields_of(type(subject)).items():
        theirs = member.encode(getattr(fresh, name))
        merged = rebase(member.kind, sent[name], now[name], theirs)
        if merged != now[name]:
            object.__setattr__(subject, name, member.decode(merged))
    object.__setattr__(subject, "_memory", fresh._memory)


def move_on(subject: LanyardObject, entry: dict[str, Any]) -> None:
    """Moves the edits in an object on to the version in `entry`, as if they had been made on that."""
    memory = subject._memory
    assert memory is not None
    base = {member.name: old for member, old in _before(subject, memory)}
    take(subject, base, entry)
