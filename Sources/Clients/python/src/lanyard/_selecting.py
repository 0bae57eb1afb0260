"""Queries as steps, and the question that a query asks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Generic, Self, TypeVar

from ._exchange import LOST, RECONNECT_PAUSES, Lines, answered, each_line, lines_of
from ._fields import Mismatch, fields_of
from ._http import Request, to_json
from ._schema import ensured
from ._scope import Scope
from ._steps import Close, Item, Pause, Steps
from .errors import ErrorCode, LanyardError, connection_lost
from .objects import LanyardObject

O = TypeVar("O", bound=LanyardObject)  # noqa: E741


@dataclass(frozen=True)
class Selection(Generic[O]):
    """The question of a query: of which class, under which condition, in which order, and how many objects.

    Each method returns another query.
    """

    scope: Scope
    cls: type[O]
    conditions: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    is_reversed: bool = False
    most: int | None = None

    def where(self, condition: str | None = None, /, *values: Any, **fields: Any) -> Self:
        """Only objects for which all conditions hold.

        `where(done=False)` compares a field with a value. `where("prio >= ? and tags contains ?", 2, "home")` is a
        condition as `lanyard list --where` takes it, with a value for each question mark.
        """
        added = [self._equal(name, value) for name, value in fields.items()]
        if condition is not None:
            added.insert(0, filled(condition, values))
        elif values:
            raise LanyardError("invalid_argument", "There are values and no condition to put them into.")
        return replace(self, conditions=self.conditions + tuple(added))

    def _equal(self, name: str, value: Any) -> str:
        try:
            return f"{name} = {to_json(self._field(name).encode(value)).decode()}"
        except Mismatch as fault:
            raise LanyardError(
                "type_mismatch",
                f"{self.cls.__name__}.{name} is compared with a wrong value: {fault}.",
                'For an element of a set or a list: where("tags contains ?", value)',
            ) from None

    def _field(self, name: str) -> Any:
        member = fields_of(self.cls).get(name)
        if member is None:
            raise LanyardError(
                "unknown_field",
                f"{self.cls.__name__} has no field {name}.",
                f"It has: {', '.join(fields_of(self.cls))}.",
            )
        return member

    def sort(self, *keys: str, reverse: bool = False) -> Self:
        """In this order: fields, `created` or `changed`, each with ` desc` behind it for the greatest first.

        In the end by id.
        """
        for key in keys:
            name = key.removesuffix(" desc").split("/")[0]
            if name not in ("created", "changed"):
                self._field(name)
        return replace(self, order=self.order + keys, is_reversed=reverse)

    def limit(self, count: int) -> Self:
        """Only the first objects of the order."""
        if count < 1:
            raise LanyardError("invalid_argument", "A limit is at least 1.")
        return replace(self, most=count)

    def request(self, last: str, *, ordered: bool = True) -> Request:
        """Returns the request for what the query asks."""
        request = Request("GET", self.scope.path("collections", self.cls.collection_name(), last))
        if len(self.conditions) == 1:
            request.query.append(("where", self.conditions[0]))
        elif self.conditions:
            request.query.append(("where", " and ".join(f"({condition})" for condition in self.conditions)))
        if ordered:
            request.query += [("sort", key) for key in self.order]
            request.query += [("reverse", self.is_reversed or None), ("limit", self.most)]
        return request


def filled(condition: str, values: tuple[Any, ...]) -> str:
    """Returns the condition with a value in place of each question mark outside of double quotes."""
    parts, quoted, escaped = [""], False, False
    for letter in condition:
        if letter == "?" and not quoted:
            parts.append("")
            continue
        quoted = quoted != (letter == '"' and not escaped)
        escaped = quoted and letter == "\\" and not escaped
        parts[-1] += letter
    if len(parts) - 1 != len(values):
        raise LanyardError(
            "invalid_argument",
            f"The condition has {len(parts) - 1} question marks, and {len(values)} values were given.",
        )
    texts = [to_json(sorted(v) if isinstance(v, set | frozenset) else v).decode() for v in values]
    return "".join(part + text for part, text in zip(parts, [*texts, ""], strict=True))


def selected(query: Selection[O]) -> Steps[None]:
    """Hands out the objects of a query."""
    yield from ensured(query.scope.schemas, query.scope.space, query.cls, for_writing=False)
    try:
        yield from each_line(query.request("objects"), query.cls.from_entry)
    except LanyardError as error:
        _allow_no_collection(error)


def counted(query: Selection[Any]) -> Steps[int]:
    """Returns the number of objects for which the condition of a query holds."""
    yield from ensured(query.scope.schemas, query.scope.space, query.cls, for_writing=False)
    try:
        return int((yield from answered(query.request("count", ordered=False)))["count"])
    except LanyardError as error:
        _allow_no_collection(error)
        return 0


def _allow_no_collection(error: LanyardError) -> None:
    """Raises all errors but the one that a collection has not begun: to a class it is one without objects."""
    if error.code != ErrorCode.UNKNOWN_COLLECTION:
        raise error


def _begun(query: Selection[Any]) -> Steps[None]:
    """Returns once the collection has its first object."""
    request = Request("GET", query.scope.path("watch"), [("collection", query.cls.collection_name())])
    lines = yield from lines_of(request)
    # The collection may have begun before the watch did.
    try:
        yield from answered(query.request("count", ordered=False))
    except LanyardError as error:
        _allow_no_collection(error)
        if (yield from lines.next_block()) is None:
            raise connection_lost() from None
    yield Close(lines.connection)


class LiveResult(Generic[O]):
    """The result of a query, brought up to date by the lines of a live answer."""

    def __init__(self, cls: type[O]) -> None:
        self.cls = cls
        self.objects: list[O] = []
        self.position: str | None = None
        self._is_reset = False
        self._named: set[str] = set()
        self._placed: list[tuple[int, O]] = []

    def take(self, change: dict[str, Any]) -> bool:
        """Takes a line; True if the difference is complete with it, and the objects are up to date."""
        kind = change["kind"]
        if kind == "reset":
            self.abandon()
            self._is_reset = True
        elif kind == "removed":
            self._named.add(change["id"])
        elif kind == "complete":
            self._apply()
            self.position = change["position"]
            return True
        else:
            self._named.add(change["object"]["id"])
            self._placed.append((change["index"], self.cls.from_entry(change["object"])))
        return False

    def abandon(self) -> None:
        """Forgets a difference that is not complete."""
        self._is_reset, self._named, self._placed = False, set(), []

    def _apply(self) -> None:
        kept = [] if self._is_reset else [each for each in self.objects if each.id not in self._named]
        for index, subject in self._placed:
            kept.insert(index, subject)
        self.objects = kept
        self.abandon()


def followed(query: Selection[O]) -> Steps[None]:
    """Hands out the result of a query now and after each change of it.

    A subscription that lost its agent is taken up again at its position, as long as it takes.
    """
    yield from ensured(query.scope.schemas, query.scope.space, query.cls, for_writing=False)
    result: LiveResult[O] = LiveResult(query.cls)
    has_begun, is_awaited, is_empty, failures = False, False, False, 0
    while True:
        lines: Lines | None = None
        try:
            if is_awaited:
                yield from _begun(query)
            request = query.request("live")
            request.query.append(("after", result.position))
            lines = yield from lines_of(request)
            is_awaited = False
            while (block := (yield from lines.next_block())) is not None:
                for change in block:
                    if result.take(change):
                        has_begun, failures = True, 0
                        # A collection begins with its schema: its first result may be as empty as what was handed out.
                        if result.objects or not is_empty:
                            is_empty = not result.objects
                            yield Item(list(result.objects))
            raise connection_lost()
        except LanyardError as error:
            is_missing = error.code == ErrorCode.UNKNOWN_COLLECTION
            is_awaited = is_awaited or is_missing
            if not is_missing and not (has_begun and error.code in LOST):
                raise
        if is_awaited and not has_begun:
            has_begun = is_empty = True
            yield Item([])
            continue
        if lines is not None:
            yield Close(lines.connection)
        result.abandon()
        yield Pause(RECONNECT_PAUSES[min(failures, len(RECONNECT_PAUSES) - 1)])
        failures += 1
