"""Lanyard in Python: objects, live queries, events and attachments of the agent on this machine.

    @dataclass
    class Todo(LanyardObject):
        title: str = ""
        done: bool = False
        tags: set[str] = field(default_factory=set)
        opened: Counter = 0

    home = lanyard.connect()
    home.save(Todo("Milk"))
    for todos in home.query(Todo).where(done=False).sort("title").live():
        show(todos)

`connect_async` returns a client with the same calls for asyncio.
"""

from ._fields import AddOnlySet, Constant, Counter, Local, OrderedSet, Register, Text
from ._saving import Draft
from .async_client import AsyncClient, connect_async
from .client import Client, connect
from .errors import ErrorCode, LanyardError
from .objects import LanyardObject, new_id
from .query import AsyncQuery, Query
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
from .trust import (
    Acceptance,
    AcceptedObject,
    AcceptedOther,
    RecoveryState,
    Revocation,
    TrustEntry,
    VoidWork,
    VoidWorkEntry,
)

__version__ = "0.1.0"

__all__ = [
    "Acceptance",
    "AcceptedObject",
    "AcceptedOther",
    "AddOnlySet",
    "AsyncClient",
    "AsyncQuery",
    "Attachment",
    "ByteProgress",
    "Client",
    "Conflict",
    "Constant",
    "Consumer",
    "Counter",
    "Device",
    "Draft",
    "Emitted",
    "ErrorCode",
    "Event",
    "Invitation",
    "Joined",
    "LanyardError",
    "LanyardObject",
    "Local",
    "OrderedSet",
    "Peer",
    "Query",
    "RecoveryState",
    "Register",
    "Revocation",
    "Rewind",
    "Status",
    "Stream",
    "Text",
    "TrustEntry",
    "VoidWork",
    "VoidWorkEntry",
    "Wait",
    "connect",
    "connect_async",
    "new_id",
]
