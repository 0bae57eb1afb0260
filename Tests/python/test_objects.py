"""Objects, queries and transactions against a real agent."""

import unittest
from dataclasses import dataclass, field
from typing import Any

from support import AgentTestCase, LossyRelay, Todo

import lanyard
from lanyard import AddOnlySet, Constant, Counter, LanyardObject, Local, OrderedSet, Register, Text


def task(**fields: Any) -> LanyardObject:
    """Returns an object of another program's class for the collection `todo`."""

    @dataclass
    class Task(LanyardObject, collection="todo"):
        title: Text = ""

    return Task(**fields)


class ObjectTests(AgentTestCase):
    def _fields(self, subject: LanyardObject) -> Any:
        return self.home.call("GET", f"/v1/spaces/home/collections/{subject.collection_name()}/objects/{subject.id}")[
            "fields"
        ]

    def _history(self, subject: LanyardObject) -> list[str]:
        path = f"/v1/spaces/home/collections/todo/objects/{subject.id}/history"
        return [each["field"] for each in self.home.call("GET", path) if each["kind"] == "edited"]

    def test_what_is_saved_is_read(self) -> None:
        todo = Todo("Milk ä🎏", tags={"b", "a"}, opened=2, body="x", steps=["1", "2"], extra={"a/b": {"c": None}})
        saved = self.home.save(todo)
        self.assertIs(saved, todo)
        self.assertEqual(self.home.get(Todo, todo.id), todo)
        self.assertEqual(self._fields(todo)["tags"], ["a", "b"])

    def test_only_what_changed_is_written(self) -> None:
        todo = self.home.save(Todo("Milk", tags={"a"}, body="one two", steps=["x", "y"], extra={"k": {"n": 1}}))
        other = self.home.get(Todo, todo.id)
        other.title, other.opened, other.body = "Bread", 5, "one two three"
        other.tags.add("b")
        other.steps.insert(0, "w")
        other.extra["k"]["m"] = 2
        self.home.save(other)
        todo.done, todo.opened, todo.body = True, 1, "zero one two"
        todo.tags = {"c"}
        todo.steps.append("z")
        todo.extra["k"]["n"] = 7
        self.home.save(todo)
        self.assertEqual(todo, self.home.get(Todo, todo.id))
        self.assertEqual((todo.title, todo.done, todo.opened), ("Bread", True, 6))
        self.assertEqual((todo.body, todo.tags), ("zero one two three", {"b", "c"}))
        self.assertEqual((todo.steps, todo.extra), (["w", "x", "y", "z"], {"k": {"n": 7, "m": 2}}))

    def test_saving_what_did_not_change_writes_nothing(self) -> None:
        todo = self.home.save(Todo("Milk", extra={"number": 1.5}))
        before = self.home.status().spaces[0]
        self.home.save(todo)
        self.home.save(self.home.get(Todo, todo.id))
        self.assertEqual(self.home.status().spaces[0].digest, before.digest)
        self.assertEqual(self._history(todo), self._history(todo))

    def test_a_long_text_is_edited_where_it_changed(self) -> None:
        todo = self.home.save(Todo(body="".join(f"line {number}\n" for number in range(3_000))))
        todo.body = todo.body.replace("line 7\n", "line seven\n")
        self.home.save(todo)
        path = f"/v1/spaces/home/collections/todo/objects/{todo.id}/history"
        last = self.home.call("GET", path, {"field": "body"})[-1]
        self.assertLess(sum(len(edit["inserted"]) for edit in last["edits"]), 10)

    def test_a_new_object_may_be_refused_if_it_is_there(self) -> None:
        todo = self.home.save(Todo("Milk"))
        self.assertCode("already_exists", lambda: self.home.save(Todo("Bread", id=todo.id), if_absent=True))
        self.assertEqual(self.home.get(Todo, todo.id).title, "Milk")

    def test_a_deleted_object_is_gone(self) -> None:
        todo = self.home.save(Todo("Milk"))
        self.assertTrue(self.home.delete(todo))
        self.assertFalse(self.home.delete(f"todo/{todo.id}"))
        self.assertCode("not_found", lambda: self.home.get(Todo, todo.id))
        todo.title = "Bread"
        error = self.assertCode("object_deleted", lambda: self.home.save(todo))
        self.assertTrue(error.hint)

    def test_a_refreshed_object_keeps_what_was_not_saved(self) -> None:
        todo = self.home.save(Todo("Milk"))
        other = self.home.get(Todo, todo.id)
        other.opened = 4
        self.home.save(other)
        todo.title = "Bread"
        self.home.refresh(todo)
        self.assertEqual((todo.title, todo.opened), ("Bread", 4))
        self.home.save(todo)
        self.assertEqual(self.home.get(Todo, todo.id).title, "Bread")

    def test_a_wrong_value_of_another_program_names_object_and_field(self) -> None:
        self.home.save(Todo("Milk"))
        self.home.call("PUT", "/v1/spaces/home/collections/todo/objects/odd", body={"title": 5})
        self.addCleanup(self.home.delete, "todo/odd")
        error = self.assertCode("type_mismatch", lambda: self.home.get(Todo, "odd"))
        self.assertIn("todo/odd", error.message)
        self.assertIn("title", error.message)
        self.assertNotIn("5", error.message)
        self.assertCode("type_mismatch", self.home.query(Todo).where("title = 5").all)

    def test_a_field_of_another_type_in_the_mesh_is_an_error(self) -> None:
        self.home.save(Todo("Milk"))
        client = self.agent.connect()
        error = self.assertCode("type_mismatch", lambda: client.save(task(title="x")))
        self.assertIn("title", error.message)
        self.assertIn("register", error.message)

    def test_a_schema_grows_with_its_class(self) -> None:
        @dataclass
        class Note(LanyardObject, indexed=["title"]):
            title: str = ""

        self.home.save(Note("first"))

        @dataclass
        class Longer(LanyardObject, collection="note", indexed=["stars"], delete_policy="updateWins"):
            title: str = ""
            stars: Counter = 0

        self.agent.connect().save(Longer("second", stars=1))
        schema = self.home.call("GET", "/v1/spaces/home/collections/note/schema")
        self.assertEqual(schema["fields"], {"title": "register", "stars": "counter"})
        self.assertEqual((sorted(schema["indexed"]), schema["deletePolicy"]), (["stars", "title"], "updateWins"))
        self.assertEqual([each.stars for each in self.home.query(Longer).sort("title")], [0, 1])

    def test_reading_writes_no_schema(self) -> None:
        @dataclass
        class Unwritten(LanyardObject):
            title: Text = ""

        self.assertEqual(self.home.query(Unwritten).all(), [])
        self.assertCode(
            "unknown_collection", lambda: self.home.call("GET", "/v1/spaces/home/collections/unwritten/schema")
        )

    def test_a_query_narrows_sorts_and_counts(self) -> None:
        @dataclass
        class Book(LanyardObject):
            title: str = ""
            pages: int = 0
            read: bool = False

        for number in range(5):
            self.home.save(Book(f"b{number}", 100 - number, number == 3))
        books = self.home.query(Book)
        self.assertEqual([each.title for each in books.where(read=False).sort("pages")], ["b4", "b2", "b1", "b0"])
        self.assertEqual([each.title for each in books.sort("pages desc").limit(2)], ["b0", "b1"])
        self.assertEqual([each.title for each in books.sort("title", reverse=True).limit(1)], ["b4"])
        self.assertEqual(books.where("pages > ?", 97).where("title in ?", ["b1", "b4"]).count(), 1)
        self.assertEqual(books.where(title='" or read = true').count(), 0)
        first = books.sort("title").first()
        self.assertEqual(first.title if first else None, "b0")
        self.assertIsNone(books.where(title="none").first())
        self.assertCode("unknown_field", lambda: books.where(author="x"))
        self.assertCode("unknown_field", lambda: books.sort("author"))
        self.assertCode("type_mismatch", lambda: books.where(pages="many"))
        self.assertCode("invalid_argument", lambda: books.where("(pages > 1").all())

    def test_a_transaction_does_all_or_nothing(self) -> None:
        milk, bread = self.home.save(Todo("Milk", body="x")), Todo("Bread")
        other = self.home.get(Todo, milk.id)
        other.body = "xy"
        self.home.save(other)
        with self.home.transaction() as draft:
            draft.save(milk)
            draft.save(bread)
            draft.emit("log", {"what": "both"}, type="note")
            milk.body, milk.opened = "wx", 1
        self.assertEqual(self.home.get(Todo, milk.id), milk)
        self.assertEqual((milk.body, milk.opened), ("wxy", 1))
        self.assertEqual(self.home.get(Todo, bread.id), bread)
        self.assertEqual([each.type for each in self.home.events("log")], ["note"])
        milk.title = "Cream"
        with self.assertRaises(ZeroDivisionError), self.home.transaction() as draft:
            draft.save(milk)
            raise ZeroDivisionError
        self.assertEqual(self.home.get(Todo, milk.id).title, "Milk")

        def refused() -> None:
            with self.home.transaction() as draft:
                draft.save(milk)
                draft.delete(bread)
                draft.emit("", {})

        self.assertCode("invalid_name", refused)
        self.assertEqual(self.home.get(Todo, milk.id).title, "Milk")
        self.assertEqual(self.home.get(Todo, bread.id), bread)

    def test_a_write_whose_answer_is_lost_is_done_once(self) -> None:
        todo = self.home.save(Todo("Milk"))
        relay = LossyRelay(self, self.agent, losses=3)
        todo.opened += 1
        lossy = lanyard.Client(
            lanyard._scope.Scope(lanyard._location.find(relay.path), schemas=self.home._scope.schemas)
        )
        lossy.save(todo)
        self.assertEqual(self.home.get(Todo, todo.id).opened, 1)
        self.assertEqual(len(relay.requests), 4)
        self.assertEqual(len(set(relay.requests)), 1)
        relay.losses = 6
        lossy.emit("lost", 1)
        self.assertEqual(len(list(self.home.events("lost"))), 1)
        relay.losses = 100
        self.assertCode("connection_lost", lambda: lossy.call("POST", "/v1/compact"))

    def test_a_key_of_the_application_holds_for_one_write(self) -> None:
        once = self.home.once("order-17")
        first, again = once.emit("orders", 17), once.emit("orders", 17)
        self.assertEqual(first, again)
        self.assertEqual(len(list(self.home.events("orders"))), 1)
        self.assertCode("idempotency_mismatch", lambda: once.emit("orders", 18))


@dataclass
class Shelf(LanyardObject):
    owner: Constant[str | None] = None
    order: OrderedSet[str] = field(default_factory=list)
    ever: AddOnlySet[int] = field(default_factory=set)
    seen: Local[bool] = False
    parts: Register[list[int]] = field(default_factory=list)
    size: float | None = None
    notes: dict[str, dict[str, int]] = field(default_factory=dict)
    pages: list[dict[str, Any]] = field(default_factory=list)


class TypeTests(AgentTestCase):
    def test_each_type_is_edited_as_its_kind(self) -> None:
        shelf = self.home.save(Shelf())
        other = self.home.get(Shelf, shelf.id)
        self.assertEqual(other, shelf)
        shelf.owner, shelf.order, shelf.ever = "me", ["a", "b", "c"], {1}
        shelf.seen, shelf.parts, shelf.size = True, [1, 2], 2
        shelf.notes, shelf.pages = {"x/y": {"n": 1}}, [{"n": 1}, {"n": 2}]
        self.home.save(shelf)
        self.assertEqual(self.home.get(Shelf, shelf.id), shelf)
        other.order, other.ever = ["z"], {2, 3}
        other.notes = {"x/y": {"m": 2}}
        other.pages.append({"n": 3})
        self.home.save(other)
        self.assertEqual(set(other.order), {"a", "b", "c", "z"})
        self.assertEqual((other.ever, other.size, other.seen), ({1, 2, 3}, 2.0, True))
        self.assertEqual(sorted(each["n"] for each in other.pages), [1, 2, 3])
        self.home.refresh(shelf)
        shelf.order = ["c", "a", "z"]
        shelf.pages[0]["n"] = 9
        self.home.save(shelf)
        self.assertEqual(self.home.get(Shelf, shelf.id).order, ["c", "a", "z"])
        self.assertEqual(self.home.get(Shelf, shelf.id).pages, shelf.pages)
        shelf.ever.discard(1)
        self.assertCode("constant_field", lambda: self.home.save(shelf))
        shelf.ever.add(1)
        shelf.owner = "you"
        self.assertCode("constant_field", lambda: self.home.save(shelf))


class NoAgentTests(unittest.TestCase):
    def test_without_an_agent_the_error_says_how_to_start_one(self) -> None:
        for path in ("/nowhere/control.sock", "/dev/null/control.sock"):
            with self.assertRaises(lanyard.LanyardError) as caught:
                lanyard.connect(path)
            self.assertEqual(caught.exception.code, lanyard.ErrorCode.AGENT_NOT_RUNNING)
            self.assertIn("Start it with", caught.exception.hint)


if __name__ == "__main__":
    unittest.main()
