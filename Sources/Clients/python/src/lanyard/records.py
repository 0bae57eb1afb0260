"""The agent's answers about events, attachments, peers and itself, as immutable records."""

from __future__ import annotations

import types
import typing
from dataclasses import dataclass, fields
from typing import Any, Self, Union

#: Names whose camel case is not regular.
_KEYS = {"short_id": "shortID", "control_api": "controlAPI"}


@dataclass(frozen=True)
class Record:
    """The base of records. Keys that a newer agent adds are left out."""

    @classmethod
    def from_json(cls, answer: dict[str, Any]) -> Self:
        """Makes a record of an answer of the agent."""
        made = {}
        for name, key, hint in _members(cls):
            if key in answer:
                made[name] = _value(answer[key], hint)
        return cls(**made)


_known: dict[type, list[tuple[str, str, Any]]] = {}


def _members(cls: type[Record]) -> list[tuple[str, str, Any]]:
    """Returns the name, the key in JSON and the type of each member."""
    if cls not in _known:
        hints = typing.get_type_hints(cls)
        names = [member.name for member in fields(cls)]
        _known[cls] = [(name, _KEYS.get(name, _camel(name)), hints[name]) for name in names]
    return _known[cls]


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _value(value: Any, hint: Any) -> Any:
    arguments = typing.get_args(hint)
    if typing.get_origin(hint) in (Union, types.UnionType):
        inner = next((each for each in arguments if each is not type(None)), Any)
        return None if value is None else _value(value, inner)
    if typing.get_origin(hint) is list and arguments:
        return [_value(element, arguments[0]) for element in value]
    if isinstance(hint, type) and issubclass(hint, Record):
        return hint.from_json(value)
    return value


@dataclass(frozen=True)
class Event(Record):
    """An event. `position` is a number in the order of arrival and a text in canonical order."""

    dot: str
    stream: str
    type: str | None
    payload: Any
    time: str
    device: str
    position: int | str
    redelivered: bool = False


@dataclass(frozen=True)
class Emitted(Record):
    """The number of events that were written, and the dots of the first and the last."""

    count: int
    first: str | None
    last: str | None


@dataclass(frozen=True)
class Rewind(Record):
    """An event came late: what was read from behind `position` is undone, and comes again with that event."""

    stream: str
    position: str


@dataclass(frozen=True)
class Stream(Record):
    """A stream of events, and how long it keeps them."""

    name: str
    events: int
    latest_only: bool
    retain_seconds: int | None
    position: int | str | None
    last_event: str | None


@dataclass(frozen=True)
class Consumer(Record):
    """A named reader of a stream, its position, and how many events are behind it."""

    name: str
    stream: str
    order: str
    position: int | str | None
    behind: int
    restoring: bool = False


@dataclass(frozen=True)
class Attachment(Record):
    """An attachment as this node has it. `file_name` is safe as the name of a file, `name` is not."""

    id: str
    owner: str
    name: str
    file_name: str
    media_type: str
    size: int
    hash: str
    state: str
    progress: float
    pinned: bool
    width: int | None = None
    height: int | None = None


@dataclass(frozen=True)
class ByteProgress(Record):
    """The progress of a transfer."""

    done_bytes: int
    total_bytes: int
    bytes_per_second: int = 0


@dataclass(frozen=True)
class Author(Record):
    """A device that wrote a side of a conflict, when, and how much."""

    device: str
    time: str
    count: int


@dataclass(frozen=True)
class Conflict(Record):
    """A result of concurrent work that a person has to look at. The first of `values` is shown."""

    id: str
    collection: str
    field: str | None
    kind: str
    values: list[Any]
    authors: list[Author]
    deletions: list[Author]


@dataclass(frozen=True)
class Device(Record):
    """A member of the space."""

    id: str
    name: str
    role: str
    state: str
    added_by: str | None = None
    added_at: str | None = None
    last_seen: str | None = None
    heard: list[str] | None = None
    waiting_for: list[str] | None = None
    revoked_by: str | None = None
    revoked_at: str | None = None
    wiped_at: str | None = None
    until: str | None = None


@dataclass(frozen=True)
class Behind(Record):
    """The number of changes that each side lacks of the other; None while unknown."""

    us: int | None
    them: int | None


@dataclass(frozen=True)
class Peer(Record):
    """Another agent, as this node sees it."""

    id: str | None
    short_id: str | None
    name: str
    state: str
    paired: bool
    address: str | None
    behind: Behind
    rtt_milliseconds: float | None = None
    last_sync: str | None = None
    version: str | None = None


@dataclass(frozen=True)
class Standing(Record):
    """The degree to which another device has what this node holds, by its most recent report."""

    id: str
    short_id: str
    name: str
    state: str
    connected: bool
    unsent: int | None = None
    away_since: str | None = None
    last_seen: str | None = None


@dataclass(frozen=True)
class Wait(Record):
    """The outcome of waiting: `waiting_for` names the devices that lack something."""

    in_step: bool
    waited_seconds: float
    waiting_for: list[Standing]


@dataclass(frozen=True)
class StatusWarning(Record):
    """Something that a person may act on."""

    code: str
    message: str
    hint: str


@dataclass(frozen=True)
class ThisDevice(Record):
    """This device."""

    id: str
    short_id: str
    name: str


@dataclass(frozen=True)
class SpaceStatus(Record):
    """A space as this node has it. Two nodes with one digest show the same.

    `sentence` says `in_step` and `standings` for people; None from an agent of an older version.
    """

    name: str
    objects: int
    events: int
    attachments: int
    conflicts: int
    digest: str
    in_step: bool
    standings: list[Standing]
    sentence: str | None = None


@dataclass(frozen=True)
class Status(Record):
    """The status of this node."""

    device: ThisDevice
    version: str
    uptime_seconds: int
    spaces: list[SpaceStatus]
    warnings: list[StatusWarning]


@dataclass(frozen=True)
class Invitation(Record):
    """A ticket that lets one device in, once."""

    ticket: str
    expires: str
    role: str | None = None
    until: str | None = None


@dataclass(frozen=True)
class Joined(Record):
    """The device and the space that let this device in, and the role that this device has there."""

    device: str
    space: str
    role: str | None = None
