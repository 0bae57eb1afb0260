"""Objects as steps: save, read, delete, and several writes as one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeVar

from ._exchange import answered
from ._http import Request, path, to_json
from ._schema import ensured
from ._scope import ObjectName, Scope, name_of
from ._steps import Steps
from .errors import ErrorCode, LanyardError
from .objects import LanyardObject, Plan, first_fields, move_on, plan, take

O = TypeVar("O", bound=LanyardObject)  # noqa: E741
#: The most times that edits are moved on to a newer version before the error is shown.
ATTEMPTS = 50


def saved(scope: Scope, subject: O, *, if_absent: bool = False) -> Steps[O]:
    """Writes what changed in an object since it was read, and brings it up to date with the answer."""
    yield from ensured(scope.schemas, scope.space, type(subject), for_writing=True)
    for attempt in range(ATTEMPTS):
        planned = plan(subject)
        if planned.operations == []:
            return subject
        try:
            entry = yield from answered(scope.keyed(_request(scope, subject, planned, if_absent)))
        except LanyardError as error:
            if error.code != ErrorCode.VERSION_MISMATCH or planned.if_version is None or attempt + 1 == ATTEMPTS:
                raise
            move_on(subject, (yield from answered(Request("GET", scope.object_path(subject)))))
            continue
        take(subject, planned.wanted, entry)
        break
    return subject


def _request(scope: Scope, subject: LanyardObject, planned: Plan, if_absent: bool) -> Request:
    where = scope.object_path(subject)
    if planned.operations is None:
        return Request(
            "PUT", where, [("ifAbsent", if_absent or None)], to_json(first_fields(type(subject), planned.wanted))
        )
    return Request("PATCH", where, [("ifVersion", planned.if_version)], to_json(planned.operations))


def read(scope: Scope, cls: type[O], identity: str) -> Steps[O]:
    """Returns an object as it is now."""
    yield from ensured(scope.schemas, scope.space, cls, for_writing=False)
    entry = yield from answered(Request("GET", scope.object_path((cls.collection_name(), identity))))
    return cls.from_entry(entry)


def refreshed(scope: Scope, subject: O) -> Steps[O]:
    """Reads an object again; what was changed in it and not saved stays changed."""
    entry = yield from answered(Request("GET", scope.object_path(subject)))
    take(subject, plan(subject).wanted, entry) if subject._memory is None else move_on(subject, entry)
    return subject


def deleted(scope: Scope, name: ObjectName) -> Steps[bool]:
    """Deletes an object everywhere; False when there was nothing to delete."""
    answer = yield from answered(scope.keyed(Request("DELETE", scope.object_path(name))))
    return bool(answer["deleted"])


@dataclass
class Draft:
    """The writes of a transaction, in their order. Objects are written as they are when it is committed."""

    operations: list[LanyardObject | dict[str, Any]] = field(default_factory=list)

    def save(self, subject: LanyardObject) -> None:
        """Saves an object; it counts as it is at the end of the transaction."""
        if not any(subject is known for known in self.operations):
            self.operations.append(subject)

    def delete(self, name: ObjectName) -> None:
        """Deletes an object everywhere."""
        collection, identity = name_of(name)
        self.operations.append({"op": "delete", "collection": collection, "id": identity})

    def emit(self, stream: str, payload: Any, *, type: str | None = None) -> None:
        """Writes an event."""
        operation = {"op": "emit", "stream": stream, "payload": payload}
        self.operations.append(operation if type is None else operation | {"type": type})


def committed(scope: Scope, draft: Draft) -> Steps[None]:
    """Does all writes of a draft as one change, or none, and brings its objects up to date."""
    subjects = [item for item in draft.operations if isinstance(item, LanyardObject)]
    for subject in subjects:
        yield from ensured(scope.schemas, scope.space, type(subject), for_writing=True)
    for attempt in range(ATTEMPTS):
        planned = [(item, plan(item) if isinstance(item, LanyardObject) else None) for item in draft.operations]
        planned = [(item, its) for item, its in planned if its is None or its.operations != []]
        if not planned:
            return
        body = to_json({"space": scope.space, "operations": [_operation(item, its) for item, its in planned]})
        try:
            answer = yield from answered(scope.keyed(Request("POST", path("v1", "transactions"), body=body)))
        except LanyardError as error:
            positioned = [item for item, its in planned if its is not None and its.if_version is not None]
            if error.code != ErrorCode.VERSION_MISMATCH or not positioned or attempt + 1 == ATTEMPTS:
                raise
            for item in positioned:
                assert isinstance(item, LanyardObject)
                move_on(item, (yield from answered(Request("GET", scope.object_path(item)))))
            continue
        for (item, its), result in zip(planned, answer["results"], strict=True):
            if isinstance(item, LanyardObject) and its is not None and result["object"] is not None:
                take(item, its.wanted, result["object"])
        return


def _operation(item: LanyardObject | dict[str, Any], planned: Plan | None) -> dict[str, Any]:
    if not isinstance(item, LanyardObject) or planned is None:
        assert isinstance(item, dict)
        return item
    collection, identity = name_of(item)
    named = {"collection": collection, "id": identity}
    if planned.operations is None:
        return {"op": "put", **named, "fields": first_fields(type(item), planned.wanted)}
    condition = {} if planned.if_version is None else {"ifVersion": planned.if_version}
    return {"op": "edit", **named, "edits": planned.operations, **condition}
