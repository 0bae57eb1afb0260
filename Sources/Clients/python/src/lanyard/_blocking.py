"""Carries steps out with blocking sockets."""

from __future__ import annotations

import select
import socket
import time
from collections.abc import Generator
from itertools import count
from typing import Any, TypeVar

from ._location import SocketLocation, connect_error
from ._steps import Close, Item, Open, Pause, Pull, Read, Step, Steps, Tell, Write
from .errors import LanyardError

T = TypeVar("T")
#: The most bytes that are read at once.
READ_BYTES = 262_144


def run(location: SocketLocation, steps: Steps[T]) -> T:
    """Carries an operation out and returns its result."""
    for _ in (walk := _Walk(location, steps)):
        raise AssertionError("an operation with one result hands out no items")
    result: T = walk.result
    return result


def iterate(location: SocketLocation, steps: Steps[None]) -> Generator[Any, None, None]:
    """Carries an operation out and yields its items. Closing the iterator closes its connections."""
    walk = iter(_Walk(location, steps))
    try:
        yield from walk
    finally:
        walk.close()


class _Walk:
    """One operation on its way, and its connections."""

    def __init__(self, location: SocketLocation, steps: Steps[Any]) -> None:
        self.location = location
        self.steps = steps
        self.sockets: dict[int, socket.socket] = {}
        self.numbers = count()
        self.result: Any = None

    def __iter__(self) -> Any:
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
                    answer = next(step.source, None)  # type: ignore[arg-type]
                elif isinstance(step, Tell):
                    step.function(*step.arguments)
                else:
                    try:
                        answer = self._carry_out(step)
                    except LanyardError as error:
                        fault = error
        finally:
            self.steps.close()
            for connection in self.sockets.values():
                connection.close()

    def _carry_out(self, step: Step) -> Any:
        if isinstance(step, Open):
            number = next(self.numbers)
            self.sockets[number] = _connected(self.location)
            return number
        if isinstance(step, Close):
            self.sockets.pop(step.connection).close()
        elif isinstance(step, Write):
            return _write(self.sockets[step.connection], step.data)
        elif isinstance(step, Read):
            try:
                return self.sockets[step.connection].recv(READ_BYTES)
            except ConnectionError:
                return b""
        elif isinstance(step, Pause):
            time.sleep(step.seconds)
        return None


def _connected(location: SocketLocation) -> socket.socket:
    location.check_length()
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
    try:
        connection.connect(location.socket_path)
    except OSError as error:
        connection.close()
        raise connect_error(location, error) from None
    return connection


def _write(connection: socket.socket, data: bytes) -> bool:
    """Sends `data`; returns False if the agent answers or hangs up before all of it is sent."""
    rest = memoryview(data)
    poll = select.poll()
    poll.register(connection, select.POLLIN | select.POLLOUT)
    while rest:
        if poll.poll()[0][1] & ~select.POLLOUT:
            return False
        try:
            rest = rest[connection.send(rest, socket.MSG_DONTWAIT) :]
        except BlockingIOError:
            continue
        except OSError:
            return False
    return True
