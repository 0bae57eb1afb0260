"""Carries steps out with asyncio."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncGenerator, AsyncIterator
from itertools import count
from typing import Any, TypeVar

from ._location import SocketLocation, connect_error
from ._steps import Close, Item, Open, Pause, Pull, Read, Step, Steps, Tell, Write
from .errors import LanyardError

T = TypeVar("T")
#: The most bytes that are read at once.
READ_BYTES = 262_144


async def run(location: SocketLocation, steps: Steps[T]) -> T:
    """Carries an operation out and returns its result. A cancelled task ends its request."""
    walk = _Walk(location, steps)
    async for _ in walk.items():
        raise AssertionError("an operation with one result hands out no items")
    result: T = walk.result
    return result


async def iterate(location: SocketLocation, steps: Steps[None]) -> AsyncGenerator[Any, None]:
    """Carries an operation out and yields its items.

    Closing the iterator, or cancelling its task, closes its connections.
    """
    items = _Walk(location, steps).items()
    try:
        async for item in items:
            yield item
    finally:
        await items.aclose()


class _Connection:
    """A connection that can tell while sending that the agent has answered."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self.reading: asyncio.Task[bytes] | None = None

    def _begin_reading(self) -> asyncio.Task[bytes]:
        if self.reading is None:
            self.reading = asyncio.create_task(self.reader.read(READ_BYTES))
        return self.reading

    async def read(self) -> bytes:
        task = self._begin_reading()
        try:
            return await task
        except OSError:
            return b""
        finally:
            self.reading = None

    async def write(self, data: bytes) -> bool:
        """Sends `data`; returns False if the agent answers or hangs up before all of it is sent."""
        self.writer.write(data)
        reading, draining = self._begin_reading(), asyncio.create_task(self.writer.drain())
        try:
            await asyncio.wait({reading, draining}, return_when=asyncio.FIRST_COMPLETED)
            return draining.done() and draining.exception() is None and not reading.done()
        finally:
            draining.cancel()

    def close(self) -> None:
        if self.reading is not None and not self.reading.cancel():
            # Looked at, so that asyncio does not report it as forgotten.
            self.reading.exception()
        self.writer.transport.abort()


class _Walk:
    """One operation on its way, and its connections."""

    def __init__(self, location: SocketLocation, steps: Steps[Any]) -> None:
        self.location = location
        self.steps = steps
        self.connections: dict[int, _Connection] = {}
        self.numbers = count()
        self.result: Any = None

    async def items(self) -> Any:
        answer: Any = None
        fault: LanyardError | None = None
        try:
            while True:
                try:
                    step = self.steps.send(answer) if fault is None else self.steps.throw(fault)
                except StopIteration as stop:
                    self.result = stop.value
                    return
                answer, fault = None, None
                if isinstance(step, Item):
                    yield step.value
                elif isinstance(step, Pull):
                    answer = await _pulled(step)
                elif isinstance(step, Tell):
                    told = step.function(*step.arguments)
                    if inspect.isawaitable(told):
                        await told
                else:
                    try:
                        answer = await self._carry_out(step)
                    except LanyardError as error:
                        fault = error
        finally:
            self.steps.close()
            for connection in self.connections.values():
                connection.close()

    async def _carry_out(self, step: Step) -> Any:
        if isinstance(step, Open):
            number = next(self.numbers)
            self.connections[number] = await _connected(self.location)
            return number
        if isinstance(step, Close):
            self.connections.pop(step.connection).close()
        elif isinstance(step, Write):
            return await self.connections[step.connection].write(step.data)
        elif isinstance(step, Read):
            return await self.connections[step.connection].read()
        elif isinstance(step, Pause):
            await asyncio.sleep(step.seconds)
        return None


async def _pulled(step: Pull) -> bytes | None:
    source = step.source
    if isinstance(source, AsyncIterator):
        return await anext(source, None)
    if step.reads_disk:
        return await asyncio.to_thread(next, source, None)
    return next(source, None)


async def _connected(location: SocketLocation) -> _Connection:
    location.check_length()
    try:
        return _Connection(*await asyncio.open_unix_connection(location.socket_path))
    except OSError as error:
        raise connect_error(location, error) from None
