"""Attachments as steps: attach from a path, bytes or pieces; read, fetch, detach."""

from __future__ import annotations

import os
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator
from typing import Any, BinaryIO

from ._exchange import Opened, answered, begin, last_result, uploaded
from ._http import BYTES, Request
from ._scope import ObjectName, Scope
from ._steps import Item, Open, Pull, Steps
from .errors import ErrorCode, LanyardError, connection_lost
from .records import Attachment, ByteProgress

#: The bytes of a file that are read at once.
PIECE_BYTES = 262_144

#: A path, the bytes themselves, or pieces of them.
Source = str | os.PathLike[str] | bytes | bytearray | memoryview | Iterable[bytes]
#: The same, also with pieces that come asynchronously.
AsyncSource = Source | AsyncIterable[bytes]
#: Called with the number of bytes sent and, if it is known, of all.
SendProgress = Callable[[int, int | None], Any]


def attached(
    scope: Scope,
    owner: ObjectName,
    source: AsyncSource,
    name: str | None,
    media_type: str | None,
    progress: SendProgress | None,
) -> Steps[Attachment]:
    """Attaches a source to an object; durable on return. If the source raises, nothing is attached."""
    request = scope.keyed(Request("POST", scope.object_path(owner, "attachments"), content_type=BYTES))
    if isinstance(source, str | os.PathLike):
        file = _opened(source)
        try:
            request.streamed_bytes = os.fstat(file.fileno()).st_size
            name = os.path.basename(os.fspath(source)) if name is None else name
            request.query = [("name", name), ("type", media_type)]
            return (yield from _sent(request, Pull(_pieces_of(file), reads_disk=True), progress))
        finally:
            file.close()
    request.query = [("name", name or None), ("type", media_type)]
    pieces: Iterator[bytes] | AsyncIterator[bytes]
    if isinstance(source, bytes | bytearray | memoryview):
        view = memoryview(source).cast("B")
        request.streamed_bytes = len(view)
        pieces = (bytes(view[at : at + PIECE_BYTES]) for at in range(0, len(view), PIECE_BYTES))
    elif isinstance(source, AsyncIterable):
        pieces = aiter(source)
    else:
        pieces = iter(source)
    return (yield from _sent(request, Pull(pieces), progress))


def _sent(request: Request, pull: Pull, progress: SendProgress | None) -> Steps[Attachment]:
    return Attachment.from_json((yield from uploaded(request, pull, progress)))


def _opened(source: str | os.PathLike[str]) -> BinaryIO:
    try:
        return open(source, "rb")
    except OSError as error:
        raise LanyardError(
            ErrorCode.FILE_UNREADABLE, f"{os.fspath(source)} cannot be read: {error.strerror}.", "Check the path."
        ) from error


def _pieces_of(file: BinaryIO) -> Iterator[bytes]:
    while piece := file.read(PIECE_BYTES):
        yield piece


def _path(scope: Scope, attachment: Attachment | str, *rest: str) -> str:
    return scope.path("attachments", attachment.id if isinstance(attachment, Attachment) else attachment, *rest)


def listed_request(scope: Scope, owner: ObjectName | None) -> Request:
    """Returns the request for the attachments of an object, or of the whole space."""
    if owner is None:
        return Request("GET", scope.path("attachments"))
    return Request("GET", scope.object_path(owner, "attachments"))


def described(scope: Scope, attachment: Attachment | str) -> Steps[Attachment]:
    """Returns an attachment as it is now."""
    return Attachment.from_json((yield from answered(Request("GET", _path(scope, attachment)))))


def contents(scope: Scope, attachment: Attachment | str) -> Steps[None]:
    """Hands out the bytes in order; each was checked by the agent."""
    connection = yield Open()
    opened: Opened = yield from begin(connection, Request("GET", _path(scope, attachment, "content"), accept="*/*"))
    try:
        while piece := (yield from opened.next_piece(connection)):
            yield Item(piece)
        return
    except LanyardError as error:
        if error.code != ErrorCode.CONNECTION_LOST:
            raise
    # What an agent finds damaged counts as missing from then on.
    if (yield from described(scope, attachment)).state == "present":
        raise connection_lost()
    raise LanyardError(
        ErrorCode.DAMAGED,
        "The attachment is damaged on this disk; what came of it is not all.",
        "Fetch it again from another device: lanyard fetch ID",
    )


def fetched(
    scope: Scope, attachment: Attachment | str, progress: Callable[[ByteProgress], Any] | None
) -> Steps[Attachment]:
    """Brings the bytes to this node, if they are not here."""
    tell = None if progress is None else lambda now: progress(ByteProgress.from_json(now))
    request = Request("POST", _path(scope, attachment, "fetch"))
    return Attachment.from_json((yield from last_result(request, tell)))


def detached(scope: Scope, attachment: Attachment | str) -> Steps[bool]:
    """Takes an attachment off its object; False when it was off already."""
    answer = yield from answered(scope.keyed(Request("DELETE", _path(scope, attachment))))
    return bool(answer["detached"])


def pinned(scope: Scope, attachment: Attachment | str, is_pinned: bool) -> Steps[Attachment]:
    """Keeps the bytes on this node whatever the policy of the space, or no longer."""
    request = Request("PUT" if is_pinned else "DELETE", _path(scope, attachment, "pin"))
    return Attachment.from_json((yield from answered(request)))
