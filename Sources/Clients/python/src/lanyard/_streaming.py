"""Events as steps: write, read, follow, acknowledge."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ._exchange import LOST, RECONNECT_PAUSES, Lines, Opened, answered, begin, lines_of, whole_body
from ._http import Request, to_json
from ._scope import Scope
from ._steps import Close, Item, Open, Pause, Steps, Tell
from .errors import ErrorCode, LanyardError, connection_lost
from .records import Emitted, Event, Rewind


def emitted(scope: Scope, stream: str, payload: Any, kind: str | None) -> Steps[Emitted]:
    """Writes an event; it is durable on return."""
    body = {"payload": payload} if kind is None else {"payload": payload, "type": kind}
    request = Request("POST", scope.path("streams", stream, "events"), body=to_json(body))
    return Emitted.from_json((yield from answered(scope.keyed(request))))


@dataclass(frozen=True)
class Reading:
    """The part of a stream that is read. `follow` goes on with later events as they come."""

    scope: Scope
    stream: str
    consumer: str | None = None
    follow: bool = False
    order: str = "arrival"
    after: int | str | None = None
    last: int | None = None
    before: int | None = None
    type: str | None = None
    #: The number of events after which a consumer's cursor is moved. It is moved also before waiting.
    acknowledge_every: int = 1
    #: Called when an event came late in canonical order, before it comes.
    on_rewind: Callable[[Rewind], Any] | None = None

    def request(self, position: int | str | None) -> Request:
        """Returns the request that begins behind `position`, or as it was asked for."""
        query: list[tuple[str, Any]] = [
            ("order", None if self.order == "arrival" else self.order),
            ("consumer", self.consumer),
            ("follow", self.follow or None),
            ("type", self.type),
        ]
        if position is not None and self.consumer is None:
            query.append(("after", position))
        elif position is None:
            query += [("after", self.after), ("last", self.last), ("before", self.before)]
        return Request("GET", self.scope.path("streams", self.stream, "events"), query)


@dataclass
class _Acknowledging:
    """A connection beside the reading one, over which a consumer's cursor is moved."""

    reading: Reading
    connection: int | None = field(default=None)

    def acknowledge(self, position: int | str) -> Steps[None]:
        """Moves the cursor. A connection that the agent ended while it was idle is opened once more."""
        consumer = self.reading.consumer
        if consumer is None:
            return
        where = self.reading.scope.path("consumers", consumer, "acknowledge")
        body = to_json({"stream": self.reading.stream, "position": position})
        for is_last in (self.connection is None, True):
            if self.connection is None:
                self.connection = yield Open()
            try:
                opened: Opened = yield from begin(self.connection, Request("POST", where, body=body))
                yield from whole_body(self.connection, opened)
                return
            except LanyardError as error:
                if error.code != ErrorCode.CONNECTION_LOST or is_last:
                    raise
            yield from self.close()

    def close(self) -> Steps[None]:
        """Closes the connection, if it is open."""
        if self.connection is not None:
            yield Close(self.connection)
        self.connection = None


def events(reading: Reading) -> Steps[None]:
    """Hands out events. A consumer's event is acknowledged once the caller's loop went on behind it.

    A reader that follows and lost its agent goes on where it was, as long as it takes.
    """
    acknowledging = _Acknowledging(reading)
    position: int | str | None = None
    has_begun, failures = False, 0
    while True:
        lines: Lines | None = None
        try:
            lines = yield from lines_of(reading.request(position))
            has_begun, failures = True, 0
            while (block := (yield from lines.next_block())) is not None:
                for number, value in enumerate(block, 1):
                    yield from _handed_out(reading, value)
                    position = value["position"]
                    if number == len(block) or number % reading.acknowledge_every == 0:
                        yield from acknowledging.acknowledge(value["position"])
            if not reading.follow:
                return
            raise connection_lost()
        except LanyardError as error:
            if not (reading.follow and has_begun) or error.code not in LOST:
                raise
        if lines is not None:
            yield Close(lines.connection)
        yield from acknowledging.close()
        yield Pause(RECONNECT_PAUSES[min(failures, len(RECONNECT_PAUSES) - 1)])
        failures += 1


def _handed_out(reading: Reading, value: dict[str, Any]) -> Steps[None]:
    if not value.get("rewind"):
        yield Item(Event.from_json(value))
    elif reading.on_rewind is not None:
        yield Tell(reading.on_rewind, (Rewind.from_json(value),))
    else:
        raise LanyardError(
            ErrorCode.UNKNOWN_OPERATION,
            "An event came late, and this reader cannot undo what it did since.",
            "Give on_rewind, or compute the state anew; or read in the order of arrival.",
        )
