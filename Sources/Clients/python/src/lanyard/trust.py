"""What answers say about trust: who let in, changed and revoked which device, and what that left of its work."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .records import Device, Record


@dataclass(frozen=True)
class Revocation(Record):
    """A revocation: the ids of the members that have heard of it and that have not, and the devices that it let in."""

    device: str
    name: str
    heard: list[str]
    waiting_for: list[str]
    also_admitted: list[Device]


@dataclass(frozen=True)
class RecoveryState(Record):
    """The recovery key of the space: if there is one, since when, and which device can make it."""

    exists: bool
    created_at: str | None = None
    founder: str | None = None


@dataclass(frozen=True)
class TrustEntry(Record):
    """A line of the log of trust: which device did what to which, when, and since when this node knows.

    `action` is `admitted`, `returned`, `joined`, `retired`, `revoked`, `roleGiven`, `readmitted`,
    `recoveryKeyMade`, `blocked` or `unblocked`. Where `in_effect` is
    False, `reason` says why. `at` is by the author's clock, `known_since` by this node's; None where unknown.
    """

    position: int
    author: str
    action: str
    device: str
    in_effect: bool
    at: str | None = None
    known_since: str | None = None
    author_name: str | None = None
    device_name: str | None = None
    role: str | None = None
    by_recovery_key: bool | None = None
    reason: str | None = None


@dataclass(frozen=True)
class VoidWorkEntry(Record):
    """Something that a device wrote and that counts nowhere, since it was revoked or may only read.

    `kind` is `object`, `event`, `schema`, `stream`, `drop`, `device`, `retirement`, `statement` or `unknown`.
    """

    kind: str
    time: str
    dot: str
    collection: str | None = None
    id: str | None = None
    action: str | None = None
    fields: list[str] | None = None
    attachment: str | None = None
    stream: str | None = None
    type: str | None = None
    payload: Any = None
    latest_only: bool | None = None
    retain_seconds: int | None = None
    schema: Any = None
    device: str | None = None
    device_name: str | None = None
    role: str | None = None
    accepted: bool | None = None


@dataclass(frozen=True)
class VoidWork(Record):
    """A page of what a device wrote that counts nowhere. `next` is where the next one begins.

    `dropped`: there was more, which the log of this node no longer has.
    """

    device: str
    name: str
    entries: list[VoidWorkEntry]
    dropped: bool
    next: str | None = None


@dataclass(frozen=True)
class AcceptedObject(Record):
    """What accepting void work did to an object: `action` is `created`, `edited`, `deleted` or `none`.

    With `none`, `code` and `reason` say why.
    """

    collection: str
    id: str
    action: str
    fields: list[str]
    attachments: int
    version: str | None = None
    code: str | None = None
    reason: str | None = None


@dataclass(frozen=True)
class AcceptedOther(Record):
    """What accepting void work did of a stream's events, a schema or a stream's setting.

    `kind` is `event`, `schema` or `stream`. `count`: the events that were emitted, else 1 if something was written. If
    nothing was, `code` and `reason` say why.
    """

    kind: str
    name: str
    count: int
    code: str | None = None
    reason: str | None = None


@dataclass(frozen=True)
class Acceptance(Record):
    """What accepting the void work of a device did: to objects, and of events, schemas and settings of streams."""

    device: str
    objects: list[AcceptedObject]
    others: list[AcceptedOther] = field(default_factory=list)
