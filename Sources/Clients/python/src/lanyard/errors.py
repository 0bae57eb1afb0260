"""Errors: one class, with the codes that the agent, the command and the Swift client use."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any


class ErrorCode(StrEnum):
    """The codes of errors. A newer agent may use others, so `LanyardError.code` is a plain string."""

    MALFORMED_JSON = "malformed_json"
    MALFORMED_CSV = "malformed_csv"
    INVALID_UTF8 = "invalid_utf8"
    TOO_DEEP = "too_deep"
    TOO_LARGE = "too_large"
    NUMBER_OUT_OF_RANGE = "number_out_of_range"
    UNKNOWN_OPERATION = "unknown_operation"
    SCHEMA_INVALID = "schema_invalid"
    INVALID_NAME = "invalid_name"
    INVALID_ARGUMENT = "invalid_argument"
    UNKNOWN_KEY = "unknown_key"
    PAYLOAD_TOO_LARGE = "payload_too_large"
    BODY_TOO_LARGE = "body_too_large"
    UNSUPPORTED_MEDIA_TYPE = "unsupported_media_type"
    METHOD_NOT_ALLOWED = "method_not_allowed"
    TYPE_MISMATCH = "type_mismatch"
    INDEX_OUT_OF_RANGE = "index_out_of_range"
    INSIDE_CHARACTER = "inside_character"
    AMBIGUOUS_ATTACHMENT = "ambiguous_attachment"
    AMBIGUOUS_DEVICE = "ambiguous_device"
    NOT_FOUND = "not_found"
    UNKNOWN_SPACE = "unknown_space"
    UNKNOWN_COLLECTION = "unknown_collection"
    UNKNOWN_FIELD = "unknown_field"
    UNKNOWN_STREAM = "unknown_stream"
    UNKNOWN_CONSUMER = "unknown_consumer"
    UNKNOWN_PEER = "unknown_peer"
    UNKNOWN_DEVICE = "unknown_device"
    UNKNOWN_ATTACHMENT = "unknown_attachment"
    UNKNOWN_SNAPSHOT = "unknown_snapshot"
    FORBIDDEN = "forbidden"
    READ_ONLY = "read_only"
    TWO_FOUNDERS = "two_founders"
    NOT_PAIRED = "not_paired"
    VERSION_MISMATCH = "version_mismatch"
    TEXT_VERSION_UNKNOWN = "text_version_unknown"
    ALREADY_EXISTS = "already_exists"
    OBJECT_DELETED = "object_deleted"
    UNDECIDED = "undecided"
    CONSTANT_FIELD = "constant_field"
    SCHEMA_WOULD_LOSE_DATA = "schema_would_lose_data"
    CATCHING_UP = "catching_up"
    WRITING_AGAIN = "writing_again"
    DUPLICATE_IDENTITY = "duplicate_identity"
    TICKET_INVALID = "ticket_invalid"
    TICKET_EXPIRED = "ticket_expired"
    TICKET_USED = "ticket_used"
    WRONG_CODE = "wrong_code"
    ALREADY_PAIRING = "already_pairing"
    NOT_PAIRING = "not_pairing"
    PAIRING_ENDED = "pairing_ended"
    IDEMPOTENCY_MISMATCH = "idempotency_mismatch"
    CONSUMER_BOUND = "consumer_bound"
    SNAPSHOT_SCHEMA = "snapshot_schema"
    SNAPSHOT_FOREIGN = "snapshot_foreign"
    RESTORE_UNFINISHED = "restore_unfinished"
    LIMIT_REACHED = "limit_reached"
    QUOTA_EXCEEDED = "quota_exceeded"
    ALREADY_RUNNING = "already_running"
    UNREACHABLE = "unreachable"
    DISK_FULL = "disk_full"
    STORE_FAILED = "store_failed"
    OBJECT_INCOMPLETE = "object_incomplete"
    NOBODY_HAS = "nobody_has"
    DAMAGED = "damaged"
    TRUNCATED = "truncated"
    NOT_AN_ARCHIVE = "not_an_archive"
    FILE_CHANGED = "file_changed"
    FILE_UNREADABLE = "file_unreadable"
    FILE_UNWRITABLE = "file_unwritable"
    CANCELLED = "cancelled"
    STOPPING = "stopping"
    UPGRADING = "upgrading"
    INTERNAL = "internal"
    AGENT_NOT_RUNNING = "agent_not_running"
    CONNECTION_LOST = "connection_lost"
    SOCKET_PATH_TOO_LONG = "socket_path_too_long"
    TIMED_OUT = "timed_out"


class LanyardError(Exception):
    """An error with a stable code, a sentence for people and the next thing to do.

    `code` compares with `ErrorCode`. `version` comes with `version_mismatch`; `line` and `written` with an upload of
    lines.
    """

    def __init__(
        self,
        code: str,
        message: str,
        hint: str = "",
        *,
        version: str | None = None,
        line: int | None = None,
        written: int | None = None,
    ) -> None:
        super().__init__(f"{message} {hint}".rstrip())
        self.code = str(code)
        self.message = message
        self.hint = hint
        self.version = version
        self.line = line
        self.written = written

    def __reduce__(self) -> tuple[Any, ...]:
        return _remade, (self.code, self.message, self.hint, self.version, self.line, self.written)

    @classmethod
    def from_answer(cls, answer: object) -> LanyardError | None:
        """Returns the error that an answer `{"error": {...}}` of the agent carries; None if it is no such answer."""
        error = answer.get("error") if isinstance(answer, Mapping) else None
        if not isinstance(error, Mapping) or not isinstance(error.get("code"), str):
            return None
        return cls(
            error["code"],
            str(error.get("message", "")),
            str(error.get("hint", "")),
            version=error.get("version"),
            line=error.get("line"),
            written=error.get("written"),
        )


def _remade(
    code: str, message: str, hint: str, version: str | None, line: int | None, written: int | None
) -> LanyardError:
    return LanyardError(code, message, hint, version=version, line=line, written=written)


def connection_lost() -> LanyardError:
    """Returns the error for a connection that ended before the answer."""
    return LanyardError(
        ErrorCode.CONNECTION_LOST,
        "The agent closed the connection before it answered.",
        "See why with: lanyard logs. If it stopped, start it again.",
    )
