"""This node, its peers and its conflicts as steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from typing import Any, TypeVar

from ._exchange import answered
from ._http import Request, path, to_json
from ._scope import ObjectName, Scope
from ._steps import Steps
from .errors import LanyardError
from .records import (
    Conflict,
    Consumer,
    Device,
    Invitation,
    Joined,
    Peer,
    Record,
    Status,
    Stream,
    Wait,
)
from .trust import Acceptance, RecoveryState, Revocation, VoidWork

R = TypeVar("R", bound=Record)
#: Stands for a value that was not given, since None is a value.
NOT_GIVEN: Any = object()
#: An RFC 3339 text, or a time; one without a zone is by the clock of this machine.
Moment = str | datetime


def called(scope: Scope, method: str, route: str, query: dict[str, Any] | None, body: Any) -> Steps[Any]:
    """Sends any request and returns the answer's JSON."""
    encoded = None if body is NOT_GIVEN else to_json(body)
    return (yield from answered(scope.keyed(Request(method, route, list((query or {}).items()), encoded))))


def _list(request: Request, kind: type[R]) -> Steps[list[R]]:
    return [kind.from_json(each) for each in (yield from answered(request))]


def status(scope: Scope) -> Steps[Status]:
    """Returns the status of this node."""
    return Status.from_json((yield from answered(Request("GET", path("v1", "status")))))


def peers(scope: Scope) -> Steps[list[Peer]]:
    """Returns the other agents as this node sees them."""
    return (yield from _list(Request("GET", path("v1", "peers")), Peer))


def devices(scope: Scope) -> Steps[list[Device]]:
    """Returns the members of the space."""
    return (yield from _list(Request("GET", scope.path("devices")), Device))


def _device_path(scope: Scope, device: str, *rest: str) -> str:
    return scope.path("devices", device, *rest)


def role_set(scope: Scope, device: str, role: str, recovery_key: str | None) -> Steps[Device]:
    """Gives a device a role."""
    body = {"role": role, "recoveryKey": recovery_key}
    request = Request("PUT", _device_path(scope, device, "role"), body=to_json(body))
    return Device.from_json((yield from answered(scope.keyed(request))))


def revoked(scope: Scope, device: str, wipe: bool, recovery_key: str | None) -> Steps[Revocation]:
    """Revokes a device."""
    body = {"wipe": wipe, "recoveryKey": recovery_key}
    request = Request("POST", _device_path(scope, device, "revocation"), body=to_json(body))
    return Revocation.from_json((yield from answered(scope.keyed(request))))


def recovery(scope: Scope) -> Steps[RecoveryState]:
    """Returns the state of the space's recovery key."""
    return RecoveryState.from_json((yield from answered(Request("GET", scope.path("recovery")))))


def recovery_key_made(scope: Scope) -> Steps[str]:
    """Returns a new recovery key, which counts once it is set."""
    return str((yield from answered(Request("POST", scope.path("recovery"), is_repeatable=False)))["key"])


def recovery_key_set(scope: Scope, key: str) -> Steps[RecoveryState]:
    """Makes a key the recovery key of the space."""
    request = Request("PUT", scope.path("recovery"), body=to_json({"recoveryKey": key}))
    return RecoveryState.from_json((yield from answered(request)))


def device_log_request(scope: Scope) -> Request:
    """Returns the request for the log of trust."""
    return Request("GET", scope.path("devices", "log"))


def void_work(scope: Scope, device: str, after: str | None, limit: int | None) -> Steps[VoidWork]:
    """Returns a page of what a device wrote that counts nowhere."""
    request = Request("GET", scope.path("devices", device, "void-work"))
    request.query = [("after", after), ("limit", limit)]
    return VoidWork.from_json((yield from answered(request)))


def accepted(
    scope: Scope, device: str, objects: Sequence[str], others: Mapping[str, Sequence[str]]
) -> Steps[Acceptance]:
    """Brings back what a device did to objects, and others by kind."""
    unknown = others.keys() - {"events", "schemas", "streams"}
    if unknown:
        raise TypeError(f"accept() takes no {min(unknown)}")
    names = {"objects": objects, **others}
    body = to_json({kind: list(of_kind) for kind, of_kind in names.items() if of_kind})
    request = Request("POST", scope.path("devices", device, "acceptance"), body=body)
    return Acceptance.from_json((yield from answered(request)))


def streams(scope: Scope) -> Steps[list[Stream]]:
    """Returns the streams of the space."""
    return (yield from _list(Request("GET", scope.path("streams")), Stream))


def consumers(scope: Scope) -> Steps[list[Consumer]]:
    """Returns the consumers of the space."""
    return (yield from _list(Request("GET", scope.path("consumers")), Consumer))


def waited(scope: Scope, timeout: float, peers: int | None, connected_only: bool) -> Steps[Wait]:
    """Waits until no device lacks anything."""
    request = Request("GET", path("v1", "wait"))
    request.query = [
        ("peers", peers),
        ("connected", connected_only or None),
        ("timeoutMilliseconds", round(timeout * 1000)),
    ]
    return Wait.from_json((yield from answered(request)))


def invited(
    scope: Scope, seconds: int | None, role: str | None, until: Moment | None
) -> Steps[Invitation]:
    """Makes a ticket that lets one device in."""
    if isinstance(until, datetime):
        until = until.astimezone(timezone.utc).isoformat()
    given = {"expiresSeconds": seconds, "role": role, "until": until}
    body = {key: value for key, value in given.items() if value is not None}
    request = Request("POST", path("v1", "invitations"), body=to_json(body), is_repeatable=False)
    return Invitation.from_json((yield from answered(request)))


def joined(scope: Scope, ticket: str) -> Steps[Joined]:
    """Joins with a ticket that another device made."""
    body = to_json({"ticket": ticket})
    request = Request("POST", path("v1", "join"), body=body, is_repeatable=False)
    return Joined.from_json((yield from answered(request)))


def conflicts(scope: Scope, collection: str | None) -> Steps[list[Conflict]]:
    """Returns the conflicts of the space, or of one collection."""
    return (yield from _list(Request("GET", scope.path("conflicts"), [("collection", collection)]), Conflict))


def resolved(
    scope: Scope, subject: Conflict | ObjectName, decision: str | None, field: str | None, value: Any
) -> Steps[bool]:
    """Decides a conflict, by a value for a field or by a decision about the whole object."""
    if isinstance(subject, Conflict):
        field = subject.field if field is None else field
        subject = (subject.collection, subject.id)
    if (decision is None) == (value is NOT_GIVEN):
        raise LanyardError(
            "invalid_argument",
            "A conflict is resolved by a value or by a decision.",
            'Give value=…, or decision="keep", "delete" or "dismiss".',
        )
    body = {"field": field, "value": value} if decision is None else {"decision": decision}
    request = Request("POST", scope.object_path(subject, "resolve"), body=to_json(body))
    return bool((yield from answered(scope.keyed(request)))["resolved"])
