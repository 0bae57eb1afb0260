"""The blocking client of the agent on this machine."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypeVar

from . import _attaching, _blocking, _node, _saving, _streaming
from ._attaching import SendProgress, Source
from ._exchange import each_line
from ._location import find
from ._node import NOT_GIVEN, Moment
from ._saving import Draft
from ._scope import ObjectName, Scope
from .objects import LanyardObject
from .query import Query
from .records import (
    Attachment,
    ByteProgress,
    Conflict,
    Consumer,
    Device,
    Emitted,
    Event,
    Invitation,
    Joined,
    Peer,
    Rewind,
    Status,
    Stream,
    Wait,
)
from .trust import Acceptance, RecoveryState, Revocation, TrustEntry, VoidWork

O = TypeVar("O", bound=LanyardObject)  # noqa: E741


def connect(
    socket: str | os.PathLike[str] | None = None,
    *,
    data_dir: str | os.PathLike[str] | None = None,
    space: str = "home",
) -> Client:
    """Returns a client of the agent on this machine, found as the command `lanyard` finds it.

    `socket` and `data_dir` name another agent, as do LANYARD_SOCKET and LANYARD_DATA_DIR. Raises `agent_not_running` if
    it does not answer.
    """
    client = Client(Scope(find(socket, data_dir), space))
    client.call("GET", "/healthz")
    return client


class Client:
    """A client of the agent on this machine; `connect` makes one.

    Each call opens a connection of its own, so a client may be used by several threads, and a restarted agent is found
    again. A write whose answer is lost is sent again under a key that lets it be done only once. Errors are
    `LanyardError`s.
    """

    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def once(self, key: str) -> Client:
        """Returns a client for a write that is done once, however often it is asked for.

        The same write under the same `key` is answered for a day with the first answer, also after a restart of either
        side; another write under it raises `idempotency_mismatch`.
        """
        return Client(replace(self._scope, key=key))

    def query(self, cls: type[O]) -> Query[O]:
        """Returns a query for all objects of a class, to be narrowed."""
        return Query(self._scope, cls)

    @contextmanager
    def transaction(self) -> Iterator[Draft]:
        """Collects writes in a `with` block; does all or none at its end, none if it raises."""
        draft = Draft()
        yield draft
        _blocking.run(self._scope.location, _saving.committed(self._scope, draft))

    def events(
        self,
        stream: str,
        *,
        consumer: str | None = None,
        follow: bool = False,
        order: str = "arrival",
        after: int | str | None = None,
        last: int | None = None,
        before: int | None = None,
        type: str | None = None,
        acknowledge_every: int = 1,
        on_rewind: Callable[[Rewind], Any] | None = None,
    ) -> Generator[Event, None, None]:
        """Yields the events of a stream; with `follow` also later ones, as they come.

        A consumer's cursor moves once the body of the loop went on behind an event: an event whose body raised, or left
        the loop, comes again, marked `redelivered`. With `acknowledge_every` it moves after so many events that arrived
        together, which is faster, and more come again. Without a consumer, `after`, `last` and `before` say where to
        begin. In the order `canonical` an event may come late: `on_rewind` is called first. A loop that follows waits
        for an agent that restarts.
        """
        reading = _streaming.Reading(
            self._scope, stream, consumer, follow, order, after, last, before, type, acknowledge_every, on_rewind
        )
        return _blocking.iterate(self._scope.location, _streaming.events(reading))

    def attachments(self, owner: ObjectName | None = None) -> Generator[Attachment, None, None]:
        """Yields the attachments of an object, or of the whole space, newest first."""
        request = _attaching.listed_request(self._scope, owner)
        return _blocking.iterate(self._scope.location, each_line(request, Attachment.from_json))

    def read(self, attachment: Attachment | str) -> Generator[bytes, None, None]:
        """Yields the bytes of an attachment, checked by the agent.

        Raises `not_found` where they are not on this node.
        """
        return _blocking.iterate(self._scope.location, _attaching.contents(self._scope, attachment))

    def save(self, subject: O, *, if_absent: bool = False) -> O:
        """Writes what changed in an object since it was read, and brings it up to date; it is durable then.

        An object that was never read is put: its fields replace those of an object with its id, if there is one, unless
        `if_absent` is given (then `already_exists`). Counters are sent as increments, sets as elements added and
        removed, texts and lists as edits at positions, which move along when other devices edited the object meanwhile.
        """
        return _blocking.run(self._scope.location, _saving.saved(self._scope, subject, if_absent=if_absent))

    def get(self, cls: type[O], id: str) -> O:
        """Returns an object. Raises `not_found`."""
        return _blocking.run(self._scope.location, _saving.read(self._scope, cls, id))

    def refresh(self, subject: O) -> O:
        """Reads an object again; what was changed in it and not saved stays changed."""
        return _blocking.run(self._scope.location, _saving.refreshed(self._scope, subject))

    def delete(self, subject: ObjectName) -> bool:
        """Deletes an object everywhere. False when there was nothing to delete."""
        return _blocking.run(self._scope.location, _saving.deleted(self._scope, subject))

    def emit(self, stream: str, payload: Any, *, type: str | None = None) -> Emitted:
        """Writes an event; it is durable on return."""
        return _blocking.run(self._scope.location, _streaming.emitted(self._scope, stream, payload, type))

    def attach(
        self,
        owner: ObjectName,
        source: Source,
        *,
        name: str | None = None,
        media_type: str | None = None,
        progress: SendProgress | None = None,
    ) -> Attachment:
        """Attaches a path, bytes, or pieces of bytes to an object; durable on return.

        `progress` is called with the bytes sent and, if known, the bytes in all. If the pieces raise an error, it comes
        through and nothing is attached.
        """
        return _blocking.run(
            self._scope.location, _attaching.attached(self._scope, owner, source, name, media_type, progress)
        )

    def attachment(self, id: str) -> Attachment:
        """Returns an attachment, by its id or a beginning of it that no other has."""
        return _blocking.run(self._scope.location, _attaching.described(self._scope, id))

    def fetch(
        self,
        attachment: Attachment | str,
        *,
        progress: Callable[[ByteProgress], Any] | None = None,
    ) -> Attachment:
        """Brings the bytes to this node, if they are not here. Raises `nobody_has`."""
        return _blocking.run(self._scope.location, _attaching.fetched(self._scope, attachment, progress))

    def detach(self, attachment: Attachment | str) -> bool:
        """Takes an attachment off its object, on every device. False when it was off already."""
        return _blocking.run(self._scope.location, _attaching.detached(self._scope, attachment))

    def pin(self, attachment: Attachment | str) -> Attachment:
        """Keeps the bytes on this node whatever the policy of the space."""
        return _blocking.run(self._scope.location, _attaching.pinned(self._scope, attachment, True))

    def unpin(self, attachment: Attachment | str) -> Attachment:
        """Leaves the bytes to the policy of the space again."""
        return _blocking.run(self._scope.location, _attaching.pinned(self._scope, attachment, False))

    def conflicts(self, collection: str | None = None) -> list[Conflict]:
        """Returns the conflicts: results of concurrent work that a person has to look at."""
        return _blocking.run(self._scope.location, _node.conflicts(self._scope, collection))

    def resolve(
        self,
        subject: Conflict | ObjectName,
        *,
        value: Any = NOT_GIVEN,
        field: str | None = None,
        decision: str | None = None,
    ) -> bool:
        """Decides a conflict on all devices: by the value of a field, or by a decision, `keep`, `delete` or `dismiss`.

        False when there is no conflict that this would resolve.
        """
        return _blocking.run(self._scope.location, _node.resolved(self._scope, subject, decision, field, value))

    def streams(self) -> list[Stream]:
        """Returns the streams of the space."""
        return _blocking.run(self._scope.location, _node.streams(self._scope))

    def consumers(self) -> list[Consumer]:
        """Returns the consumers of the space."""
        return _blocking.run(self._scope.location, _node.consumers(self._scope))

    def status(self) -> Status:
        """Returns the status of this node."""
        return _blocking.run(self._scope.location, _node.status(self._scope))

    def peers(self) -> list[Peer]:
        """Returns the other agents, as this node sees them."""
        return _blocking.run(self._scope.location, _node.peers(self._scope))

    def devices(self) -> list[Device]:
        """Returns the members of the space."""
        return _blocking.run(self._scope.location, _node.devices(self._scope))

    def set_role(self, device: str, role: str, *, recovery_key: str | None = None) -> Device:
        """Gives a device a role, `reader`, `writer` or `admin`; one that was revoked is admitted again.

        This device has to be an admin, or `recovery_key` is that of the space. `device` is best an id: a device chooses
        its name.
        """
        return _blocking.run(self._scope.location, _node.role_set(self._scope, device, role, recovery_key))

    def revoke(self, device: str, *, wipe: bool = False, recovery_key: str | None = None) -> Revocation:
        """Revokes a device, as in `set_role`: its later work counts nowhere. `wipe` has it delete what it holds."""
        return _blocking.run(self._scope.location, _node.revoked(self._scope, device, wipe, recovery_key))

    def recovery(self) -> RecoveryState:
        """Says if the space has a recovery key, and since when."""
        return _blocking.run(self._scope.location, _node.recovery(self._scope))

    def new_recovery_key(self) -> str:
        """Makes a recovery key. It counts once it is given to `set_recovery_key`: write it down before."""
        return _blocking.run(self._scope.location, _node.recovery_key_made(self._scope))

    def set_recovery_key(self, key: str) -> RecoveryState:
        """Makes a key the recovery key of the space, for good. The agent keeps its public half only."""
        return _blocking.run(self._scope.location, _node.recovery_key_set(self._scope, key))

    def device_log(self) -> Generator[TrustEntry, None, None]:
        """Yields the log of trust, in the order in which this node learned of the facts."""
        request = _node.device_log_request(self._scope)
        return _blocking.iterate(self._scope.location, each_line(request, TrustEntry.from_json))

    def void_work(self, device: str, *, after: str | None = None, limit: int | None = None) -> VoidWork:
        """Returns a page of what a revoked device wrote that counts nowhere, in the order in which it was written."""
        return _blocking.run(self._scope.location, _node.void_work(self._scope, device, after, limit))

    def accept(self, device: str, objects: Sequence[str] = (), **others: Sequence[str]) -> Acceptance:
        """Brings back what a revoked device did to objects; others: `events`, `schemas`, `streams`. For admins."""
        return _blocking.run(self._scope.location, _node.accepted(self._scope, device, objects, others))

    def wait(self, timeout: float = 30.0, *, peers: int | None = None, connected_only: bool = False) -> Wait:
        """Waits until this node has all that it should and no device lacks anything of it, at most `timeout` seconds.

        With `peers`, also until so many are connected; with `connected_only`, devices without a session do not count.
        After the time `in_step` of the answer is False; that is no error.
        """
        return _blocking.run(self._scope.location, _node.waited(self._scope, timeout, peers, connected_only))

    def invite(self, *, seconds: int | None = None, role: str | None = None, until: Moment | None = None) -> Invitation:
        """Makes a ticket that lets one device in, for ten minutes and as a writer unless told otherwise.

        `role` is `reader`, `writer` or `admin`; above that of this device it is refused (`Code.FORBIDDEN`). An admin's
        device revokes the new one at `until`, an RFC 3339 text or a `datetime`; one that is over is refused.
        """
        return _blocking.run(self._scope.location, _node.invited(self._scope, seconds, role, until))

    def join(self, ticket: str) -> Joined:
        """Joins with a ticket that another device made."""
        return _blocking.run(self._scope.location, _node.joined(self._scope, ticket))

    def call(
        self,
        method: str,
        path: str,
        query: dict[str, str | int | bool | None] | None = None,
        body: Any = NOT_GIVEN,
    ) -> Any:
        """Sends any request of the control API, and returns the JSON of the answer. deploy/HTTP.md lists the routes."""
        return _blocking.run(self._scope.location, _node.called(self._scope, method, path, query, body))
