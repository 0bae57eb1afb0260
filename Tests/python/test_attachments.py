"""Attachments: from a path, bytes and pieces; read back; refused; broken off in the middle."""

import random
import tempfile
import unittest
from collections.abc import Iterator
from pathlib import Path

from support import AgentTestCase, Todo, connections_of, until

from lanyard import LanyardError
from lanyard._attaching import PIECE_BYTES


class AttachmentTests(AgentTestCase):
    def setUp(self) -> None:
        self.todo = self.home.save(Todo("Milk"))

    def _bytes(self, count: int) -> bytes:
        return random.Random(count).randbytes(count)

    def test_bytes_come_back_as_they_were(self) -> None:
        for count in (0, 1, PIECE_BYTES, PIECE_BYTES + 1, 3_000_000):
            told: list[tuple[int, int | None]] = []
            data = self._bytes(count)
            attachment = self.home.attach(
                self.todo, data, name="a.bin", media_type="x/y", progress=lambda *now, told=told: told.append(now)
            )
            self.assertEqual((attachment.size, attachment.name, attachment.media_type), (count, "a.bin", "x/y"))
            self.assertEqual(b"".join(self.home.read(attachment)), data)
            self.assertEqual(told[-1:], [(count, count)] if count else [])
        self.assertEqual(len(list(self.home.attachments(self.todo))), 5)
        self.assertGreaterEqual(len(list(self.home.attachments())), 5)

    def test_a_path_gives_its_name(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "receipt ä.txt"
            path.write_bytes(self._bytes(700_000))
            attachment = self.home.attach(("todo", self.todo.id), path)
            self.assertEqual((attachment.name, attachment.size), ("receipt ä.txt", 700_000))
            self.assertEqual(b"".join(self.home.read(attachment.id)), path.read_bytes())
            missing = str(path) + "x"
            self.assertCode("file_unreadable", lambda: self.home.attach(self.todo, missing))

    def test_pieces_are_sent_as_they_come(self) -> None:
        attachment = self.home.attach(self.todo, (bytes([number]) * 100_000 for number in range(20)))
        self.assertEqual(attachment.size, 2_000_000)
        self.assertEqual(self.home.attach(self.todo, [b"", b"x", bytearray(b"y")]).size, 2)
        self.assertEqual(self.home.attach(self.todo, []).size, 0)

    def test_pieces_that_raise_attach_nothing(self) -> None:
        for count in (0, 1, 30):

            def pieces(count: int = count) -> Iterator[bytes]:
                for _ in range(count):
                    yield b"x" * 100_000
                raise ZeroDivisionError("in the middle")

            with self.assertRaises(ZeroDivisionError):
                self.home.attach(self.todo, pieces())
        with self.assertRaises(TypeError):
            self.home.attach(self.todo, ["text"])  # type: ignore[list-item]
        self.assertEqual(list(self.home.attachments(self.todo)), [])
        until(lambda: connections_of(self.agent) == 0, "the connections are closed")

    def test_what_has_no_room_is_refused_before_it_is_asked_for(self) -> None:
        asked: list[int] = []

        def pieces() -> Iterator[bytes]:
            for number in range(1_000):
                asked.append(number)
                yield b"x" * 100_000

        self.assertCode("not_found", lambda: self.home.attach("todo/none", pieces()))
        self.assertEqual(asked, [])
        self.home.call("PUT", "/v1/spaces/home", body={"quota": 1_000_000})
        self.addCleanup(lambda: self.home.call("PUT", "/v1/spaces/home", body={"quota": None}))
        self.assertCode("quota_exceeded", lambda: self.home.attach(self.todo, b"x" * 2_000_000))
        self.assertCode("quota_exceeded", lambda: self.home.attach(self.todo, pieces()))
        self.assertLess(len(asked), 1_000)
        self.assertEqual(list(self.home.attachments(self.todo)), [])

    def test_a_file_that_shrinks_meanwhile_is_not_attached(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "shrinking"
            path.write_bytes(b"x" * (4 * PIECE_BYTES))

            def shrink(sent: int, _: int | None) -> None:
                if sent == PIECE_BYTES:
                    path.write_bytes(b"")

            self.assertCode("file_changed", lambda: self.home.attach(self.todo, path, progress=shrink))
        self.assertEqual(list(self.home.attachments(self.todo)), [])

    def test_it_is_pinned_and_detached(self) -> None:
        attachment = self.home.attach(self.todo, b"x")
        self.assertTrue(self.home.pin(attachment).pinned)
        self.assertFalse(self.home.unpin(attachment).pinned)
        self.assertEqual(self.home.fetch(attachment).state, "present")
        self.assertEqual(self.home.attachment(attachment.id[:20]), attachment)
        self.assertTrue(self.home.detach(attachment))
        self.assertCode("unknown_attachment", lambda: self.home.detach(attachment))
        self.assertCode("unknown_attachment", lambda: self.home.attachment("ZZZZZZZZ"))

    def test_damaged_bytes_are_an_error(self) -> None:
        attachment = self.home.attach(self.todo, self._bytes(5_000_000))
        [blob] = [
            path
            for path in self.agent.folder.rglob("*")
            if path.is_file() and path.stat().st_size == 5_000_000 and "control" not in path.name
        ]
        data = bytearray(blob.read_bytes())
        data[4_000_000] ^= 1
        blob.chmod(0o600)
        blob.write_bytes(data)
        with self.assertRaises(LanyardError) as caught:
            for _ in self.home.read(attachment):
                pass
        self.assertEqual(caught.exception.code, "damaged")


if __name__ == "__main__":
    unittest.main()
