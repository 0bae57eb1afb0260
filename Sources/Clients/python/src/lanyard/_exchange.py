"""Requests and answers as steps: one answer, an answer in lines, an upload, and what is tried again."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ._http import LINES, Answer, Request
from ._steps import Close, Item, Open, Pause, Pull, Read, Steps, Tell, Write
from .errors import ErrorCode, LanyardError, connection_lost

#: The seconds before each further try of a request whose answer was lost: time for an agent to be started again. A read
#: is tried once more.
PAUSES = (0.05, 0.25, 1.0, 2.0)
#: The seconds before each try of a subscription to be taken up again; the last one repeats.
RECONNECT_PAUSES = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0)
#: The codes with which a subscription is taken up again.
LOST = frozenset({ErrorCode.CONNECTION_LOST, ErrorCode.AGENT_NOT_RUNNING, ErrorCode.STOPPING})


def answered(request: Request) -> Steps[Any]:
    """Sends a request and returns the answer's JSON, None for an empty one.

    A write is sent under a key, so that it is done once even if its answer is lost and it is sent again.
    """
    is_read = request.method == "GET"
    if not is_read and request.is_repeatable and request.key is None:
        request = replace(request, key=secrets.token_urlsafe(16))
    pauses = PAUSES[:1] if is_read else PAUSES
    lost: LanyardError | None = None
    for pause in (0.0, *(pauses if request.is_repeatable else ())):
        if pause:
            yield Pause(pause)
        try:
            return (yield from _answer(request))
        except LanyardError as error:
            # Whether the first try was written is not known before the agent answers.
            may_repeat = error.code == ErrorCode.CONNECTION_LOST or (
                lost is not None and error.code == ErrorCode.AGENT_NOT_RUNNING
            )
            if not may_repeat:
                raise
            lost = lost or error
    assert lost is not None
    raise lost


def _answer(request: Request) -> Steps[Any]:
    connection = yield Open()
    opened = yield from begin(connection, request)
    body = yield from whole_body(connection, opened)
    yield Close(connection)
    return parsed(body)


def parsed(body: bytes) -> Any:
    """Returns the JSON of a body, None for an empty one."""
    if not body:
        return None
    try:
        return json.loads(body)
    except ValueError:
        raise LanyardError("internal", "The answer is not JSON.", "See why with: lanyard logs.") from None


def begin(connection: int, request: Request) -> Steps[Opened]:
    """Sends a request whose body is known, and waits for the head of the answer. Raises the error that it carries."""
    yield Write(connection, request.head() + (request.body or b""))
    opened = Opened(Answer(), b"")
    yield from opened.receive_head(connection)
    yield from opened.check(connection)
    return opened


class Opened:
    """An answer whose head has arrived, with the bytes of its body that arrived along."""

    def __init__(self, answer: Answer, body: bytes) -> None:
        self.answer = answer
        self.body = body

    @property
    def headers(self) -> dict[str, str]:
        """The headers, by their names in small letters."""
        return self.answer.headers

    def receive_head(self, connection: int) -> Steps[None]:
        """Reads until the head is there."""
        while not self.answer.status:
            self.body += self.answer.take((yield Read(connection)))

    def next_piece(self, connection: int) -> Steps[bytes]:
        """Returns the next bytes of the body, `b""` at its end."""
        while not self.body and not self.answer.is_complete:
            self.body = self.answer.take((yield Read(connection)))
        piece, self.body = self.body, b""
        return piece

    def check(self, connection: int) -> Steps[None]:
        """Raises the error that an answer with a status above 299 carries."""
        if self.answer.status < 300:
            return
        body = yield from whole_body(connection, self)
        yield Close(connection)
        try:
            error = LanyardError.from_answer(json.loads(body))
        except ValueError:
            error = None
        raise error or LanyardError(
            "internal",
            f"The agent answered {self.answer.status} without saying why.",
            "See why with: lanyard logs.",
        )


def whole_body(connection: int, opened: Opened) -> Steps[bytes]:
    """Returns the whole body of an answer."""
    pieces: list[bytes] = []
    while piece := (yield from opened.next_piece(connection)):
        pieces.append(piece)
    return b"".join(pieces)


def uploaded(request: Request, pull: Pull, progress: Callable[[int, int | None], Any] | None = None) -> Steps[Any]:
    """Sends the pieces of a source as the body, once the agent wants them, and returns the answer's JSON.

    An answer that comes before the end of the body ends the sending: it says why. If the source raises, the agent sees
    the connection end before the body did, and does nothing.
    """
    connection = yield Open()
    opened = Opened(Answer(), b"")
    yield Write(connection, request.head(is_streamed=True))
    while not (opened.answer.status or opened.answer.continues):
        opened.body += opened.answer.take((yield Read(connection)))
    if not opened.answer.status:
        yield from _send_body(connection, request, pull, progress)
    yield from opened.receive_head(connection)
    yield from opened.check(connection)
    return parsed((yield from whole_body(connection, opened)))


def _send_body(
    connection: int, request: Request, pull: Pull, progress: Callable[[int, int | None], Any] | None
) -> Steps[None]:
    sent, total = 0, request.streamed_bytes
    while (piece := (yield pull)) is not None:
        if not isinstance(piece, bytes | bytearray | memoryview):
            raise TypeError(f"an attachment is made of bytes, not of {type(piece).__name__}")
        if not piece:
            continue
        piece = bytes(piece)
        sent += len(piece)
        if total is not None and sent > total:
            raise _file_changed()
        if not (yield Write(connection, request.framed(piece))):
            return
        if progress is not None:
            yield Tell(progress, (sent, total))
    if total is None:
        yield Write(connection, request.framed(b""))
    elif sent < total:
        raise _file_changed()


def _file_changed() -> LanyardError:
    return LanyardError(
        ErrorCode.FILE_CHANGED, "The file changed while it was read; nothing was attached.", "Attach it again."
    )


class Lines:
    """The lines of an answer, in blocks of those that arrived together."""

    def __init__(self, connection: int, opened: Opened) -> None:
        self.connection = connection
        self.opened = opened
        self._rest = b""
        self._error: LanyardError | None = None

    def next_block(self) -> Steps[list[Any] | None]:
        """Returns the values of the next lines, None at the end.

        Raises an error that the answer ends with, after its last lines.
        """
        if self._error is not None:
            raise self._error
        while piece := (yield from self.opened.next_piece(self.connection)):
            *whole, self._rest = (self._rest + piece).split(b"\n")
            values = [parsed(line) for line in whole if line]
            if values and (error := LanyardError.from_answer(values[-1])):
                self._error = error
                values.pop()
                if not values:
                    raise error
            if values:
                return values
        return None


def lines_of(request: Request) -> Steps[Lines]:
    """Sends a request that is answered in JSON lines."""
    connection = yield Open()
    opened = yield from begin(connection, replace(request, accept=LINES))
    return Lines(connection, opened)


def each_line(request: Request, make: Callable[[Any], Any]) -> Steps[None]:
    """Hands out what `make` makes of each value of an answer in lines."""
    lines = yield from lines_of(request)
    while (block := (yield from lines.next_block())) is not None:
        for value in block:
            yield Item(make(value))


def last_result(request: Request, progress: Callable[[dict[str, int]], Any] | None) -> Steps[Any]:
    """Reads lines of progress, and returns the result in the last of them."""
    lines = yield from lines_of(request)
    while (block := (yield from lines.next_block())) is not None:
        for value in block:
            if "result" in value:
                return value["result"]
            if progress is not None:
                yield Tell(progress, (value["progress"],))
    raise connection_lost()
