"""The asynchronous client of the agent on this machine."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, TypeVar

from . import _attaching, _concurrent, _node, _saving, _streaming
from ._attaching import AsyncSource, SendProgress
from ._exchange import each_line
from ._location import find
from ._node import NOT_GIVEN, Moment
from ._saving import Draft
from ._scope import ObjectName, Scope
from .objects import LanyardObject
from .query import AsyncQuery
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


async def connect_async(
    socket: str | os.PathLike[str] | None = None,
    *,
    data_dir: str | os.PathLike[str] | None = None,
    space: str = "home",
) -> AsyncClient:
    """Returns an asynchronous client of the agent on this machine, found as the command `lanyard` finds it.

    `socket` and `data_dir` name another agent, as do LANYARD_SOCKET and LANYARD_DATA_DIR. Raises `agent_not_running` if
    it does not answer.
    """
    client = AsyncClient(Scope(find(socket, data_dir), space))
    await client.call("GET", "/healthz")
    return client


class AsyncClient:
    """The asynchronous client of the agent on this machine; `connect_async` makes one.

    It has the calls of `Client`. Cancelling a task ends its request.
    """

    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def once(self, key: str) -> AsyncClient:
        """Returns a client for a write that is done once, however often it is asked for.

        The same write under the same `key` is answered for a day with the first answer, also after a restart of either
        side; another write under it raises `idempotency_mismatch`.
        """
        return AsyncClient(replace(self._scope, key=key))

    def query(self, cls: type[O]) -> AsyncQuery[O]:
        """Returns a query for all objects of a class, to be narrowed."""
        return AsyncQuery(self._scope, cls)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Draft]:
        """Collects writes in an `async with` block; does all or none at its end, none if it raises."""
        draft = Draft()
        yield draft
        await _concurrent.run(self._scope.location, _saving.committed(self._scope, draft))

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
    ) -> AsyncGenerator[Event, None]:
        """Yields the events of a stream; with `follow` also later ones, as they come. See `Client.events`."""
        reading = _streaming.Reading(
            self._scope, stream, consumer, follow, order, after, last, before, type, acknowledge_every, on_rewind
        )
        return _concurrent.iterate(self._scope.location, _streaming.events(reading))

    def attachments(self, owner: ObjectName | None = None) -> AsyncGenerator[Attachment, None]:
        """Yields the attachments of an object, or of the whole space, newest first."""
        request = _attaching.listed_request(self._scope, owner)
        return _concurrent.iterate(self._scope.location, each_line(request, Attachment.from_json))

    def read(self, attachment: Attachment | str) -> AsyncGenerator[bytes, None]:
        """Yields the bytes of an attachment, checked by the agent.

        Raises `not_found` where they are not on this node.
        """
        return _concurrent.iterate(self._scope.location, _attaching.contents(self._scope, attachment))

    async def save(self, subject: O, *, if_absent: bool = False) -> O:
        """Writes what changed in an object since it was read, and brings it up to date; it is durable then.

        See `Client.save`.
        """
        return await _concurrent.run(self._scope.location, _saving.saved(self._scope, subject, if_absent=if_absent))

    async def get(self, cls: type[O], id: str) -> O:
        """Returns an object. Raises `not_found`."""
        return await _concurrent.run(self._scope.location, _saving.read(self._scope, cls, id))

    async def refresh(self, subject: O) -> O:
        """Reads an object again; what was changed in it and not saved stays changed."""
        return await _concurrent.run(self._scope.location, _saving.refreshed(self._scope, subject))

    async def delete(self, subject: ObjectName) -> bool:
        """Deletes an object everywhere. False when there was nothing to delete."""
        return await _concurrent.run(self._scope.location, _saving.deleted(self._scope, subject))

    async def emit(self, stream: str, payload: Any, *, type: str | None = None) -> Emitted:
        """Writes an event; it is durable on return."""
        return await _concurrent.run(self._scope.location, _streaming.emitted(self._scope, stream, payload, type))

    async def attach(
        self,
        owner: ObjectName,
        source: AsyncSource,
        *,
        name: str | None = None,
        media_type: str | None = None,
        progress: SendProgress | None = None,
    ) -> Attachment:
        """Attaches a path, bytes, or pieces of bytes to an object; durable on return. See `Client.attach`."""
        return await _concurrent.run(
            self._scope.location, _attaching.attached(self._scope, owner, source, name, media_type, progress)
        )

    async def attachment(self, id: str) -> Attachment:
        """Returns an attachment, by its id or a beginning of it that no other has."""
        return await _concurrent.run(self._scope.location, _attaching.described(self._scope, id))

    async def fetch(
        self,
        attachment: Attachment | str,
        *,
        progress: Callable[[ByteProgress], Any] | None = None,
    ) -> Attachment:
        """Brings the bytes to this node, if they are not here. Raises `nobody_has`."""
        return await _concurrent.run(self._scope.location, _attaching.fetched(self._scope, attachment, progress))

    async def detach(self, attachment: Attachment | str) -> bool:
        """Takes an attachment off its object, on every device. False when it was off already."""
        return await _concurrent.run(self._scope.location, _attaching.detached(self._scope, attachment))

    async def pin(self, attachment: Attachment | str) -> Attachment:
        """Keeps the bytes on this node whatever the policy of the space."""
        return await _concurrent.run(self._scope.location, _attaching.pinned(self._scope, attachment, True))

    async def unpin(self, attachment: Attachment | str) -> Attachment:
        """Leaves the bytes to the policy of the space again."""
        return await _concurrent.run(self._scope.location, _attaching.pinned(self._scope, attachment, False))

    async def conflicts(self, collection: str | None = None) -> list[Conflict]:
        """Returns the conflicts: results of concurrent work that a person has to look at."""
        return await _concurrent.run(self._scope.location, _node.conflicts(self._scope, collection))

    async def resolve(
        self,
        subject: Conflict | ObjectName,
        *,
        value: Any = NOT_GIVEN,
        field: str | None = None,
        decision: str | None = None,
    ) -> bool:
        """Decides a conflict on all devices: by the value of a field, or by a decision, `keep`, `delete` or `dismiss`.

        See `Client.resolve`.
        """
        return await _concurrent.run(self._scope.location, _node.resolved(self._scope, subject, decision, field, value))

    async def streams(self) -> list[Stream]:
        """Returns the streams of the space."""
        return await _concurrent.run(self._scope.location, _node.streams(self._scope))

    async def consumers(self) -> list[Consumer]:
        """Returns the consumers of the space."""
        return await _concurrent.run(self._scope.location, _node.consumers(self._scope))

    async def status(self) -> Status:
        """Returns the status of this node."""
        return await _concurrent.run(self._scope.location, _node.status(self._scope))

    async def peers(self) -> list[Peer]:
        """Returns the other agents, as this node sees them."""
        return await _concurrent.run(self._scope.location, _node.peers(self._scope))

    async def devices(self) -> list[Device]:
        """Returns the members of the space."""
        return await _concurrent.run(self._scope.location, _node.devices(self._scope))

    async def set_role(self, device: str, role: str, *, recovery_key: str | None = None) -> Device:
        """Gives a device a role, `reader`, `writer` or `admin`; one that was revoked is admitted again.

        This device has to be an admin, or `recovery_key` is that of the space. `device` is best an id: a device chooses
        its name.
        """
        return await _concurrent.run(self._scope.location, _node.role_set(self._scope, device, role, recovery_key))

    async def revoke(self, device: str, *, wipe: bool = False, recovery_key: str | None = None) -> Revocation:
        """Revokes a device, as in `set_role`: its later work counts nowhere. `wipe` has it delete what it holds."""
        return await _concurrent.run(self._scope.location, _node.revoked(self._scope, device, wipe, recovery_key))

    async def recovery(self) -> RecoveryState:
        """Says if the space has a recovery key, and since when."""
        return await _concurrent.run(self._scope.location, _node.recovery(self._scope))

    async def new_recovery_key(self) -> str:
        """Makes a recovery key. It counts once it is given to `set_recovery_key`: write it down before."""
        return await _concurrent.run(self._scope.location, _node.recovery_key_made(self._scope))

    async def set_recovery_key(self, key: str) -> RecoveryState:
        """Makes a key the recovery key of the space, for good. The agent keeps its public half only."""
        return await _concurrent.run(self._scope.location, _node.recovery_key_set(self._scope, key))

    def device_log(self) -> AsyncGenerator[TrustEntry, None]:
        """Yields the log of trust, in the order in which this node learned of the facts."""
        request = _node.device_log_request(self._scope)
        return _concurrent.iterate(self._scope.location, each_line(request, TrustEntry.from_json))

    async def void_work(self, device: str, *, after: str | None = None, limit: int | None = None) -> VoidWork:
        """Returns a page of what a revoked device wrote that counts nowhere."""
        return await _concurrent.run(self._scope.location, _node.void_work(self._scope, device, after, limit))

    async def accept(self, device: str, objects: Sequence[str] = (), **others: Sequence[str]) -> Acceptance:
        """Brings back what a revoked device did to objects; others: `events`, `schemas`, `streams`. For admins."""
        return await _concurrent.run(self._scope.location, _node.accepted(self._scope, device, objects, others))

    async def wait(self, timeout: float = 30.0, *, peers: int | None = None, connected_only: bool = False) -> Wait:
        """Waits until this node has all that it should and no device lacks anything of it, at most `timeout` seconds.

        See `Client.wait`.
        """
        return await _concurrent.run(self._scope.location, _node.waited(self._scope, timeout, peers, connected_only))

    async def invite(
        self, *, seconds: int | None = None, role: str | None = None, until: Moment | None = None
    ) -> Invitation:
        """Makes a ticket that lets one device in, for ten minutes and as a writer unless told otherwise.

        `role` is `reader`, `writer` or `admin`; above that of this device it is refused (`Code.FORBIDDEN`). An admin's
        device revokes the new one at `until`, an RFC 3339 text or a `datetime`; one that is over is refused.
        """
        return await _concurrent.run(self._scope.location, _node.invited(self._scope, seconds, role, until))

    async def join(self, ticket: str) -> Joined:
        """Joins with a ticket that another device made."""
        return await _concurrent.run(self._scope.location, _node.joined(self._scope, ticket))

    async def call(
        self,
        method: str,
        path: str,
        query: dict[str, str | int | bool | None] | None = None,
        body: Any = NOT_GIVEN,
    ) -> Any:
        """Sends any request of the control API, and returns the JSON of the answer. deploy/HTTP.md lists the routes."""
        return await _concurrent.run(self._scope.location, _node.called(self._scope, method, path, query, body))
