"""Queries of a client: how what they select is read."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from typing import TypeVar

from . import _blocking, _concurrent
from ._selecting import Selection, counted, followed, selected
from .objects import LanyardObject

O = TypeVar("O", bound=LanyardObject)  # noqa: E741


class Query(Selection[O]):
    """A query of a `Client`. It is an iterable of its objects, and asks anew each time."""

    def __iter__(self) -> Generator[O, None, None]:
        return _blocking.iterate(self.scope.location, selected(self))

    def all(self) -> list[O]:
        """Returns the objects."""
        return list(self)

    def first(self) -> O | None:
        """Returns the first object; None if there is none."""
        return next(iter(self.limit(1).all()), None)

    def count(self) -> int:
        """Returns the number of objects for which the conditions hold, whatever the limit."""
        return _blocking.run(self.scope.location, counted(self))

    def live(self) -> Generator[list[O], None, None]:
        """Yields the list of objects now, and again after each change of it.

        What changes while the loop is busy comes as one list. If the agent stops, the loop waits for it. Close the
        iterator, or leave the loop, to end the subscription.
        """
        return _blocking.iterate(self.scope.location, followed(self))


class AsyncQuery(Selection[O]):
    """A query of an `AsyncClient`. It is an asynchronous iterable of its objects, and asks anew each time."""

    def __aiter__(self) -> AsyncGenerator[O, None]:
        return _concurrent.iterate(self.scope.location, selected(self))

    async def all(self) -> list[O]:
        """Returns the objects."""
        return [each async for each in self]

    async def first(self) -> O | None:
        """Returns the first object; None if there is none."""
        return next(iter(await self.limit(1).all()), None)

    async def count(self) -> int:
        """Returns the number of objects for which the conditions hold, whatever the limit."""
        return await _concurrent.run(self.scope.location, counted(self))

    def live(self) -> AsyncGenerator[list[O], None]:
        """Yields the list of objects now, and again after each change of it, as `Query.live` does."""
        return _concurrent.iterate(self.scope.location, followed(self))
