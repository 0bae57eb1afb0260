"""The scope of an operation: the agent, the space and the key of a write."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ._http import Request, path
from ._location import SocketLocation
from ._schema import SchemaMemory
from .errors import LanyardError
from .objects import LanyardObject

#: An object, or its name: `todo/milk`, or a pair of collection and id.
ObjectName = LanyardObject | str | tuple[str, str]


@dataclass(frozen=True)
class Scope:
    """The agent, the space and the key under which a write is done once."""

    location: SocketLocation
    space: str = "home"
    #: The key given by the application; None: a fresh one for each write.
    key: str | None = None
    schemas: SchemaMemory = field(default_factory=SchemaMemory)

    def path(self, *segments: str) -> str:
        """Returns a path below the space."""
        return path("v1", "spaces", self.space, *segments)

    def object_path(self, name: ObjectName, *segments: str) -> str:
        """Returns the path of an object, and of what is below it."""
        collection, identity = name_of(name)
        return self.path("collections", collection, "objects", identity, *segments)

    def keyed(self, request: Request) -> Request:
        """Returns the request with the key that the application gave."""
        return request if self.key is None else replace(request, key=self.key)


def name_of(name: ObjectName) -> tuple[str, str]:
    """Returns the collection and the id of an object."""
    if isinstance(name, LanyardObject):
        return name.collection_name(), name.id
    if isinstance(name, str):
        collection, slash, identity = name.partition("/")
        if not slash:
            raise LanyardError("invalid_name", "An object is named COLLECTION/ID.", "For example: todo/milk")
        return collection, identity
    return name
