"""The parts that need no agent: HTTP as bytes, edits, fields, the search for a socket."""

import enum
import random
import unittest
from dataclasses import dataclass, field
from typing import Any, Literal

from support import Todo

from lanyard import Constant, Counter, LanyardError, LanyardObject, Local, OrderedSet, Register, Text
from lanyard._edits import edits, rebase
from lanyard._fields import fields_of
from lanyard._http import Answer, Request, to_json
from lanyard._location import SERVICE_SOCKET, Machine, find
from lanyard._selecting import filled
from lanyard.objects import encoded


class HTTPTests(unittest.TestCase):
    ANSWERS = {
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello": (200, b"hello"),
        b"HTTP/1.1 204 No Content\r\n\r\n": (204, b""),
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx": (200, b"x"),
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA;x=1\r\n0123456789\r\n0\r\n\r\n": (
            200,
            b"abc0123456789",
        ),
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\n\n\r\n0\r\nTrailer: x\r\n\r\n": (200, b"\n"),
    }

    def test_an_answer_is_the_same_however_its_bytes_arrive(self) -> None:
        for data, (status, body) in self.ANSWERS.items():
            for size in (1, 2, 3, 7, len(data)):
                answer, got = Answer(), b""
                for start in range(0, len(data), size):
                    self.assertFalse(answer.is_complete, data)
                    got += answer.take(data[start : start + size])
                self.assertEqual((answer.status, got, answer.is_complete), (status, body, True), (data, size))

    def test_an_answer_without_a_length_ends_with_the_connection(self) -> None:
        answer = Answer()
        self.assertEqual(answer.take(b"HTTP/1.1 200 OK\r\n\r\nall of it"), b"all of it")
        self.assertFalse(answer.is_complete)
        answer.take(b"")
        self.assertTrue(answer.is_complete)

    def test_half_an_answer_is_a_lost_connection(self) -> None:
        for data in self.ANSWERS:
            for end in range(len(data)):
                answer = Answer()
                if end:
                    answer.take(data[:end])
                with self.assertRaises(LanyardError) as caught:
                    answer.take(b"")
                self.assertEqual(caught.exception.code, "connection_lost")

    def test_what_is_no_http_is_a_lost_connection(self) -> None:
        for data in (b"SSH-2.0-x\r\n\r\n", b"HTTP/1.1 200\r\nContent-Length: x\r\n\r\n", b"x" * 70_000):
            with self.assertRaises(LanyardError):
                Answer().take(data)

    def test_names_and_values_are_encoded(self) -> None:
        head = Request("GET", "/a", [("where", 'x = "ä&b"'), ("deep", True), ("none", None)]).head()
        self.assertTrue(head.startswith(b"GET /a?where=x%20%3D%20%22%C3%A4%26b%22&deep=true HTTP/1.1\r\n"), head)
        for key in ("", "a b", "ä", "x" * 256, "a\r\nb"):
            with self.assertRaises(LanyardError):
                Request("PUT", "/a", key=key).head()

    def test_what_json_cannot_hold_is_a_typed_error(self) -> None:
        for value, code in [
            ("\ud800", "invalid_utf8"),
            (float("nan"), "number_out_of_range"),
            (b"x", "invalid_argument"),
        ]:
            with self.assertRaises(LanyardError) as caught:
                to_json([value])
            self.assertEqual(caught.exception.code, code)


def applied(value: Any, operations: list[dict[str, Any]]) -> Any:
    """Does edits as the agent does them."""
    for each in operations:
        at = each.get("at", 0)
        if each["op"] == "delete":
            value = value[:at] + value[at + each["count"] :]
        elif each["op"] == "insert":
            value = value[:at] + (each["value"] if isinstance(value, str) else [each["value"]]) + value[at:]
        else:
            value = each["value"]
    return value


class EditTests(unittest.TestCase):
    def setUp(self) -> None:
        self.chance = random.Random(7)

    def _text(self, letters: str, most: int) -> str:
        return "".join(self.chance.choice(letters) for _ in range(self.chance.randint(0, most)))

    def test_edits_make_the_new_value_of_the_old_one(self) -> None:
        for _ in range(5_000):
            old, new = self._text("ab", 9), self._text("abc", 9)
            self.assertEqual(applied(old, edits("text", "x", old, new)), new)
            self.assertEqual(applied(list(old), edits("list", "x", list(old), list(new))), list(new))

    def test_only_what_differs_is_edited(self) -> None:
        old = "".join(f"line {number}\n" for number in range(5_000))
        new = old.replace("line 17\n", "line seventeen\n") + "end"
        operations = edits("text", "x", old, new)
        self.assertLess(sum(len(each.get("value", "")) for each in operations), 20)
        self.assertEqual(applied(old, operations), new)

    def test_a_text_that_differs_all_over_is_edited_in_time(self) -> None:
        old, new = self._text("abc", 60_000) + "x" * 9_000, self._text("def", 60_000) + "y" * 9_000
        self.assertEqual(applied(old, edits("text", "x", old, new)), new)

    def test_what_both_sides_typed_stays_and_what_one_deleted_goes(self) -> None:
        for _ in range(5_000):
            base, mine, theirs = self._text("ab", 8), "", ""
            for letter in base:
                mine += self.chance.choice(["", letter, letter, letter + "M"])
                theirs += self.chance.choice(["", letter, letter, "T" + letter])
            merged = rebase("text", base, mine, theirs)
            for letter, side in (("M", mine), ("T", theirs)):
                self.assertEqual(merged.count(letter), side.count(letter), (base, mine, theirs, merged))
            self.assertEqual(rebase("text", base, base, theirs), theirs)
            self.assertEqual(rebase("text", base, mine, base), mine)
        self.assertEqual(rebase("text", "hello world", "hello, world", "HI hello world!"), "HI hello, world!")
        self.assertEqual(rebase("text", "one two", "one", "one two three"), "one three")

    def test_other_types_move_on_too(self) -> None:
        self.assertEqual(rebase("counter", 1, 3, 10), 12)
        self.assertEqual(rebase("set", ["a", "b"], ["b", "c"], ["a", "d"]), ["c", "d"])
        self.assertEqual(
            rebase("dictionary", {"a": 1, "b": {"x": 1}}, {"b": {"x": 1, "y": 2}}, {"a": 1, "b": {}}), {"b": {"y": 2}}
        )
        self.assertEqual(rebase("orderedSet", ["a"], ["a", "b"], ["b", "a"]), ["b", "a"])
        self.assertEqual(rebase("register", 1, 2, 3), 2)
        self.assertEqual(
            edits("dictionary", "d", {"a/b": 1}, {"c~": 2}),
            [{"op": "unset", "path": "d/a~1b"}, {"op": "set", "path": "d/c~0", "value": 2}],
        )


class Colour(enum.Enum):
    RED = "red"


@dataclass
class Everything(LanyardObject):
    a: str = ""
    b: Counter = 0
    c: Text = ""
    d: set[str] = field(default_factory=set)
    e: list[int] = field(default_factory=list)
    f: dict[str, Any] = field(default_factory=dict)
    g: OrderedSet[str] = field(default_factory=list)
    h: Constant[str] = ""
    i: Local[bool] = False
    j: Register[list[str]] = field(default_factory=list)
    k: int | None = None
    l: float = 0.0
    m: Colour = Colour.RED
    n: Literal["x", "y"] = "x"


class FieldTests(unittest.TestCase):
    def test_the_annotation_says_the_replicated_type(self) -> None:
        kinds = {name: member.kind for name, member in fields_of(Everything).items()}
        self.assertEqual(
            " ".join(kinds.values()),
            "register counter text set list dictionary orderedSet constant local register register register register"
            " register",
        )

    def test_a_wrong_value_is_an_error_that_names_object_and_field(self) -> None:
        wrong: dict[str, Any] = {
            "a": 5, "b": True, "c": None, "d": ["x"], "e": ["x"], "f": {1: 2}, "g": ["x", "x"], "k": "x",
            "l": float("inf"), "m": "red", "n": "z", "j": "x",
        }  # fmt: skip
        for name, value in wrong.items():
            subject = Everything(id="one")
            setattr(subject, name, value)
            with self.assertRaises(LanyardError) as caught:
                encoded(subject)
            self.assertEqual(caught.exception.code, "type_mismatch", name)
            self.assertIn("everything/one", str(caught.exception))
            self.assertIn(f" in {name}:", str(caught.exception))

    def test_fields_without_init_are_not_stored(self) -> None:
        @dataclass
        class Cached(LanyardObject):
            title: str = ""
            size: int = field(default=0, init=False)

        self.assertEqual(list(fields_of(Cached)), ["title"])

    def test_a_class_that_cannot_be_stored_is_an_error(self) -> None:
        class Plain(LanyardObject):
            title: str = ""

        @dataclass
        class Wrong(LanyardObject):
            when: complex = 0

        for kind in (Plain, Wrong):
            with self.assertRaises(LanyardError) as caught:
                fields_of(kind)
            self.assertEqual(caught.exception.code, "schema_invalid")

    def test_question_marks_are_filled_outside_of_quotes(self) -> None:
        self.assertEqual(
            filled('a = ? and "b?" = "?\\"?" or c in ?', ('"', [1])), 'a = "\\"" and "b?" = "?\\"?" or c in [1]'
        )
        for condition, values in (("a = ?", ()), ("a = 1", (1,))):
            with self.assertRaises(LanyardError):
                filled(condition, values)


class LocationTests(unittest.TestCase):
    def _found(self, *answering: str, exists: tuple[str, ...] = (), root: bool = False, **environment: str) -> Any:
        machine = Machine(
            {"HOME": "/h", **environment}, root, lambda path: path in answering, lambda path: path in exists
        )
        return find(machine=machine)

    def test_the_agent_is_found_in_the_order_of_the_command(self) -> None:
        own, run = "/h/.local/share/lanyard/control.sock", "/r/lanyard/control.sock"
        self.assertEqual(self._found(own, LANYARD_SOCKET="/x/s.sock").socket_path, "/x/s.sock")
        self.assertEqual(self._found(own, LANYARD_DATA_DIR="/x").socket_path, "/x/control.sock")
        self.assertEqual(self._found(own, LANYARD_SOCKET="", LANYARD_DATA_DIR="").socket_path, own)
        self.assertEqual(self._found(own, run, XDG_RUNTIME_DIR="/r").socket_path, run)
        self.assertEqual(self._found(SERVICE_SOCKET).socket_path, SERVICE_SOCKET)
        self.assertEqual(self._found(LANYARD_DATA_DIR="/var/lib/lanyard").socket_path, SERVICE_SOCKET)
        installed = ("/var/lib/lanyard",)
        self.assertEqual(self._found(exists=installed).socket_path, SERVICE_SOCKET)
        device = (*installed, "/h/.local/share/lanyard/identity.pem")
        self.assertEqual(self._found(exists=device).socket_path, own)
        self.assertEqual(self._found(exists=device, root=True).socket_path, SERVICE_SOCKET)
        self.assertFalse(self._found().is_found)
        self.assertIn("lanyardd", self._found(LANYARD_DATA_DIR="/a b").not_running().hint)
        self.assertIn("'/a b'", self._found(LANYARD_DATA_DIR="/a b").not_running().hint)
        self.assertEqual(find("/x/control.sock").data_directory, "/x")

    def test_a_path_that_is_too_long_is_an_error(self) -> None:
        with self.assertRaises(LanyardError) as caught:
            find("/" + "x" * 200).check_length()
        self.assertEqual(caught.exception.code, "socket_path_too_long")


class ObjectTests(unittest.TestCase):
    def test_ids_differ_and_objects_with_equal_fields_are_equal(self) -> None:
        self.assertNotEqual(Todo("a").id, Todo("a").id)
        self.assertEqual(Todo("a", id="1"), Todo("a", id="1"))
        self.assertEqual(Todo.collection_name(), "todo")


if __name__ == "__main__":
    unittest.main()
