"""The schema of a class: what the mesh lacks of it is added, and what differs is an error."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ._exchange import answered
from ._fields import fields_of
from ._http import Request, path, to_json
from ._steps import Steps
from .errors import ErrorCode, LanyardError
from .objects import LanyardObject


@dataclass
class SchemaMemory:
    """The classes whose schema was compared in this process, by space."""

    #: Those of which the mesh has everything.
    complete: set[tuple[str, type]] = field(default_factory=set)
    #: Those that may be read.
    readable: set[tuple[str, type]] = field(default_factory=set)


def ensured(memory: SchemaMemory, space: str, cls: type[LanyardObject], *, for_writing: bool) -> Steps[None]:
    """Compares the schema on the first use of a class; a write adds what is missing, a read only compares."""
    key = (space, cls)
    if key in memory.complete or (key in memory.readable and not for_writing):
        return
    missing = yield from _missing(space, cls)
    if missing and for_writing:
        yield from answered(Request("PUT", _path(space, cls), body=to_json(missing)))
    memory.readable.add(key)
    if for_writing or not missing:
        memory.complete.add(key)


def _path(space: str, cls: type[LanyardObject]) -> str:
    return path("v1", "spaces", space, "collections", cls.collection_name(), "schema")


def _missing(space: str, cls: type[LanyardObject]) -> Steps[dict[str, Any]]:
    """Returns the settings that the mesh lacks. Raises `type_mismatch` if it has a field with another type."""
    settings = cls._settings
    kinds = {name: member.kind for name, member in fields_of(cls).items()}
    for name in settings.indexed:
        if name not in kinds:
            raise LanyardError("schema_invalid", f"{cls.__name__} has no field {name} to index.")
    try:
        schema = yield from answered(Request("GET", _path(space, cls)))
    except LanyardError as error:
        if error.code != ErrorCode.UNKNOWN_COLLECTION:
            raise
        schema = {"fields": {}, "indexed": [], "deletePolicy": None}
    known = {name: kind if isinstance(kind, str) else kind["type"] for name, kind in schema["fields"].items()}
    for name, kind in kinds.items():
        if known.get(name, kind) != kind:
            raise LanyardError(
                ErrorCode.TYPE_MISMATCH,
                f"The field {name} of {settings.collection} is a {known[name]} in the mesh "
                f"and a {kind} in {cls.__name__}.",
                f"Change {cls.__name__}.{name}, or convert the values: "
                f"lanyard schema set {settings.collection} {name}={kind}",
            )
    missing: dict[str, Any] = {}
    if fields := {name: kind for name, kind in kinds.items() if name not in known}:
        missing["fields"] = fields
    if set(settings.indexed) - set(schema["indexed"]):
        missing["indexed"] = [*schema["indexed"], *(n for n in settings.indexed if n not in schema["indexed"])]
    policy = settings.delete_policy
    if policy is not None and schema["deletePolicy"] != policy:
        # `deleteWins` is also what a schema has that names no policy.
        if schema["deletePolicy"] not in (None, "deleteWins"):
            raise LanyardError(
                ErrorCode.TYPE_MISMATCH,
                f"The deletion policy of {settings.collection} is {schema['deletePolicy']} in the mesh "
                f"and {policy} in {cls.__name__}.",
                f"Change {cls.__name__}, or set it in the mesh: lanyard schema set --help",
            )
        missing["deletePolicy"] = policy
    return missing
