"""HTTP/1.1 without sockets: requests as bytes, and answers taken apart as bytes arrive (RFC 9112)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from .errors import LanyardError, connection_lost

JSON = "application/json"
LINES = "application/x-ndjson"
BYTES = "application/octet-stream"
#: The longest head of an answer, in bytes.
HEAD_BYTES = 65_536

QueryValue = str | int | bool | None


def path(*segments: str) -> str:
    """Returns a path of segments, each of them percent-encoded."""
    return "".join("/" + quote(segment, safe="-._~") for segment in segments)


def to_json(value: Any) -> bytes:
    """Returns a value as JSON; raises a typed error for what JSON cannot hold."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        raise LanyardError("invalid_utf8", "A text holds half a surrogate pair.", "Give Unicode text.") from None
    except ValueError as error:
        raise LanyardError("number_out_of_range", f"JSON cannot hold the value: {error}.") from None
    except TypeError as error:
        raise LanyardError("invalid_argument", f"JSON cannot hold the value: {error}.") from None


@dataclass
class Request:
    """A request to an agent. Query values that are None are left out."""

    method: str
    path: str
    query: list[tuple[str, QueryValue]] = field(default_factory=list)
    body: bytes | None = None
    accept: str = JSON
    content_type: str = JSON
    #: The key under which a write is done once, however often it is sent.
    key: str | None = None
    #: False for a request that has a new effect each time: it is not sent again.
    is_repeatable: bool = True
    #: The length of a body that is sent in pieces; None if unknown before its end.
    streamed_bytes: int | None = None

    def head(self, *, is_streamed: bool = False) -> bytes:
        """Returns the request line and the headers."""
        pairs = [f"{key}={quote(_text(value), safe='-._~')}" for key, value in self.query if value is not None]
        lines = [f"{self.method} {self.path}{'?' if pairs else ''}{'&'.join(pairs)} HTTP/1.1"]
        lines += ["Host: lanyard", f"Accept: {self.accept}"]
        if self.key is not None:
            lines.append(f"Idempotency-Key: {_checked_key(self.key)}")
        if is_streamed:
            length = self.streamed_bytes
            lines.append("Transfer-Encoding: chunked" if length is None else f"Content-Length: {length}")
            # The body is sent only once the agent says that it wants it (RFC 9110, section 10.1.1).
            lines += ["Expect: 100-continue", f"Content-Type: {self.content_type}"]
        elif self.body is not None:
            lines += [f"Content-Length: {len(self.body)}", f"Content-Type: {self.content_type}"]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")

    def framed(self, piece: bytes) -> bytes:
        """Returns a piece of a streamed body as it is sent; the empty piece ends the body."""
        if self.streamed_bytes is not None:
            return piece
        return b"%x\r\n%b\r\n" % (len(piece), piece) if piece else b"0\r\n\r\n"


def _text(value: QueryValue) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _checked_key(key: str) -> str:
    if 1 <= len(key) <= 255 and all("!" <= letter <= "~" for letter in key):
        return key
    raise LanyardError(
        "invalid_argument",
        "An idempotency key has 1 to 255 printable ASCII characters without spaces.",
        "For example: order-17",
    )


class Answer:
    """The answer to one request, taken apart as its bytes arrive.

    States: head, then body, then complete. `status` is 0 until the head is there. An interim answer (1xx) sets
    `continues` and is followed by another head.
    """

    def __init__(self) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.continues = False
        self.is_complete = False
        self._buffer = bytearray()
        #: The bytes left of the body or of the chunk; None while a chunk's size is awaited.
        self._rest: int | None = 0
        self._is_chunked = False
        self._ends_with_connection = False
        self._is_in_trailer = False

    def take(self, data: bytes) -> bytes:
        """Takes bytes of the connection, `b""` at its end, and returns the bytes of the body among them."""
        if not data:
            if self._ends_with_connection:
                self.is_complete = True
            elif not self.is_complete:
                raise connection_lost()
            return b""
        self._buffer += data
        while not self.status:
            if not self._take_head():
                return b""
        return b"".join(self._take_body())

    def _take_head(self) -> bool:
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            if len(self._buffer) > HEAD_BYTES:
                raise connection_lost()
            return False
        first, *rest = bytes(self._buffer[:end]).decode("latin-1").split("\r\n")
        del self._buffer[: end + 4]
        version, _, status = first.partition(" ")
        if not version.startswith("HTTP/1.") or not status[:3].isdigit():
            raise connection_lost()
        code = int(status[:3])
        if code < 200:
            self.continues = self.continues or code == 100
            return True
        self.status = code
        for line in rest:
            name, _, value = line.partition(":")
            self.headers[name.strip().lower()] = value.strip()
        if "chunked" in self.headers.get("transfer-encoding", "").lower():
            self._is_chunked, self._rest = True, None
        elif code in (204, 304):
            self.is_complete = True
        elif (length := self.headers.get("content-length")) is not None:
            if not length.isdigit():
                raise connection_lost()
            self._rest = int(length)
            self.is_complete = self._rest == 0
        else:
            self._ends_with_connection = True
        return True

    def _take_body(self) -> Iterable[bytes]:
        while self._buffer and not self.is_complete:
            if self._ends_with_connection:
                yield self._removed(len(self._buffer))
            elif self._rest:
                piece = self._removed(min(self._rest, len(self._buffer)))
                self._rest -= len(piece)
                self.is_complete = not self._is_chunked and self._rest == 0
                yield piece
            elif (line := self._line()) is None:
                return
            elif self._is_in_trailer:
                self.is_complete = line == b""
            elif line or self._rest is None:
                self._begin_chunk(line)
            else:
                self._rest = None  # The line break behind a chunk.

    def _begin_chunk(self, line: bytes) -> None:
        try:
            self._rest = int(line.split(b";")[0], 16)
        except ValueError:
            raise connection_lost() from None
        self._is_in_trailer = self._rest == 0

    def _line(self) -> bytes | None:
        end = self._buffer.find(b"\r\n")
        if end < 0:
            return None
        return self._removed(end + 2)[:-2]

    def _removed(self, count: int) -> bytes:
        piece = bytes(self._buffer[:count])
        del self._buffer[:count]
        return piece
