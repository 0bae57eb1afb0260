"""The steps of an operation, independent of how they are carried out.

An operation is a generator. It yields what is to be done next (`Open`, `Write`, `Read` …), is given the result, and
returns its own result. Two drivers carry the steps out: `_blocking.run` with a blocking socket, `_concurrent.run` with
asyncio. So each request is built, each answer read and each retry decided in one place.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Generator, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Open:
    """Connect to the agent; the result is a number for the connection."""


@dataclass(frozen=True)
class Close:
    """Close a connection. Connections that are open at the end of the operation are closed anyway."""

    connection: int


@dataclass(frozen=True)
class Write:
    """Send bytes; the result is False if the agent answered or hung up before all were sent."""

    connection: int
    data: bytes


@dataclass(frozen=True)
class Read:
    """Wait for bytes; the result is `b""` at the end of the connection."""

    connection: int


@dataclass(frozen=True)
class Pause:
    """Let time pass."""

    seconds: float


@dataclass(frozen=True)
class Pull:
    """Ask the caller's source for its next piece; the result is None at its end.

    What the source raises ends the operation.
    """

    source: Iterator[bytes] | AsyncIterator[bytes]
    #: True if asking may wait for a disk.
    reads_disk: bool = False


@dataclass(frozen=True)
class Tell:
    """Call a function of the caller's; the concurrent driver awaits what it returns if that can be awaited."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]


@dataclass(frozen=True)
class Item:
    """Hand a value to the caller's loop; the operation goes on once the body of the loop has."""

    value: Any


Step = Open | Close | Write | Read | Pause | Pull | Tell | Item
#: An operation with a result of type T, or one that hands out items of type T and returns None.
Steps = Generator[Step, Any, T]
