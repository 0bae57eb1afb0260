"""Operations against answers in a fixed order, for what with a real agent depends on time."""

import unittest
from typing import Any

from support import Todo

from lanyard._http import to_json
from lanyard._location import find
from lanyard._scope import Scope
from lanyard._selecting import Selection, followed
from lanyard._steps import Item, Open, Read, Write


class LiveQueryTests(unittest.TestCase):
    NO_COLLECTION = {"error": {"code": "unknown_collection", "message": "No such collection."}}

    def _handed_out(self, answers: list[tuple[str, int, list[Any]]]) -> list[Any]:
        """Returns the lists of a live query whose requests are answered so: the end of the path, status, and lines."""
        steps, asked, items, result = followed(Selection(Scope(find("/x")), Todo)), iter(answers), [], None
        while True:
            step = steps.send(result)
            result = True
            if isinstance(step, Item):
                items.append([todo.title for todo in step.value])
            elif isinstance(step, Open):
                try:
                    end, status, lines = next(asked)
                except StopIteration:
                    return items
            elif isinstance(step, Write):
                self.assertIn(f"/{end}", step.data.decode().split(" ")[1])
            elif isinstance(step, Read):
                body = b"\n".join(map(to_json, lines)) + b"\n"
                result = b"HTTP/1.1 %d X\r\nContent-Length: %d\r\n\r\n%s" % (status, len(body), body)

    def test_a_collection_that_begins_with_its_schema_shows_no_second_empty_list(self) -> None:
        milk = {"collection": "todo", "id": "1", "version": "v", "fields": {"title": "Milk"}}
        reset, complete = {"kind": "reset"}, {"kind": "complete", "position": "1-a"}
        inserted = {"kind": "inserted", "index": 0, "object": milk}
        removed = {"kind": "removed", "id": "1"}
        begins = [
            ("schema", 404, [self.NO_COLLECTION]),
            ("live", 404, [self.NO_COLLECTION]),
            ("watch", 200, []),
            ("count", 200, [{"count": 0}]),
        ]
        changes = [reset, complete, inserted, complete, removed, complete]
        self.assertEqual(self._handed_out([*begins, ("live", 200, changes)]), [[], ["Milk"], []])
        known = [("schema", 200, [{"fields": {}, "indexed": [], "deletePolicy": None}])]
        self.assertEqual(self._handed_out([*known, ("live", 200, changes)]), [[], ["Milk"], []])


if __name__ == "__main__":
    unittest.main()
