"""Two devices: what they write apart, what they see of each other."""

import unittest
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timezone

from support import Agent, AgentTestCase, Todo, pair, together, until

import lanyard
from lanyard import LanyardObject, Text


class TwoAgentTests(AgentTestCase):
    other: Agent
    away: lanyard.Client

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.other = Agent(cls)
        cls.away = cls.other.connect()
        pair(cls.home, cls.away)

    def test_devices_and_peers_know_each_other(self) -> None:
        self.assertEqual(len(self.home.devices()), 2)
        [peer] = self.home.peers()
        self.assertEqual((peer.state, peer.paired), ("connected", True))
        self.assertEqual(peer.id, self.away.status().device.id)
        self.assertTrue(self.home.wait(10, peers=1).in_step)
        self.assertFalse(self.home.wait(0.1, peers=2).in_step)

    def test_a_ticket_gives_a_role_up_to_that_of_the_device(self) -> None:
        for role in ("reader", "writer", "admin"):
            self.assertEqual(self.home.invite(role=role).role, role)
        self.assertEqual(self.home.invite().role, "writer")
        self.assertCode("invalid_argument", lambda: self.home.invite(role="king"))
        self.assertEqual(self.away.invite(role="reader", seconds=30).role, "reader")
        self.assertCode("forbidden", lambda: self.away.invite(role="admin"))

    def test_a_membership_may_end_by_itself(self) -> None:
        self.assertIsNone(self.home.invite().until)
        text = self.home.invite(until="2999-01-31T18:00:00+01:00").until
        self.assertEqual(text, "2999-01-31T17:00:00.000Z")
        moment = datetime(2999, 1, 31, 18, tzinfo=timezone.utc)
        self.assertEqual(self.home.invite(until=moment).until, "2999-01-31T18:00:00.000Z")
        self.assertCode("invalid_argument", lambda: self.home.invite(until=datetime(2001, 1, 31)))
        self.assertCode("invalid_argument", lambda: self.home.invite(until="soon"))
        self.assertEqual([device.until for device in self.home.devices()], [None, None])

    def test_the_log_of_trust_names_both_sides_of_the_pairing(self) -> None:
        together(self.home, self.away)
        ids = {self.home.status().device.id, self.away.status().device.id}
        log = list(self.home.device_log())
        self.assertEqual({each.action for each in log}, {"admitted", "joined"})
        self.assertEqual({each.author for each in log}, ids)
        self.assertTrue(all(each.in_effect and each.known_since and each.reason is None for each in log))
        self.assertEqual([each.position for each in log], sorted(each.position for each in log))

    def test_a_member_in_good_standing_has_no_void_work(self) -> None:
        together(self.home, self.away)
        away = self.away.status().device.id
        page = self.home.void_work(away, limit=10)
        self.assertEqual((page.device, page.entries, page.next, page.dropped), (away, [], None, False))
        [refused] = self.home.accept(away, ["note/none"]).objects
        self.assertEqual((refused.action, refused.code, refused.version), ("none", "not_found", None))
        self.assertIn("note/none", str(refused.reason))
        [other] = self.home.accept(away, events=["none"]).others
        self.assertEqual((other.kind, other.name, other.count, other.code), ("event", "none", 0, "not_found"))
        with self.assertRaises(TypeError):
            self.home.accept(away, event=["none"])

    def test_a_live_query_shows_what_the_other_writes(self) -> None:
        self.home.save(Todo("first"))
        together(self.home, self.away)
        with closing(self.home.query(Todo).where(title="from away").live()) as live:
            self.assertEqual(next(live), [])
            todo = self.away.save(Todo("from away"))
            self.assertEqual(next(live), [todo])

    def test_what_both_write_apart_merges(self) -> None:
        todo = self.home.save(Todo("Milk", body="one two", tags={"a"}))
        together(self.home, self.away)
        theirs = self.away.get(Todo, todo.id)
        self.other.stop()
        todo.body, todo.opened, todo.tags = "zero one two", 2, {"b"}
        todo.title = "ours"
        self.home.save(todo)
        self.agent.stop()
        self.other.start()
        theirs.body, theirs.opened = "one two three", 5
        theirs.tags.add("c")
        theirs.title = "theirs"
        self.away.save(theirs)
        self.agent.start()
        together(self.home, self.away)
        merged = self.home.get(Todo, todo.id)
        self.assertEqual((merged.body, merged.opened, merged.tags), ("zero one two three", 7, {"b", "c"}))
        self.assertEqual(self.away.get(Todo, todo.id), merged)
        [conflict] = [each for each in self.home.conflicts("todo") if each.id == todo.id]
        self.assertEqual((conflict.kind, conflict.field), ("concurrentValues", "title"))
        self.assertEqual(sorted(conflict.values), ["ours", "theirs"])
        self.assertCode("invalid_argument", lambda: self.home.resolve(conflict))
        self.assertTrue(self.home.resolve(conflict, value="both"))
        self.assertFalse(self.home.resolve(conflict, value="both"))
        together(self.home, self.away)
        self.assertEqual(self.away.get(Todo, todo.id).title, "both")
        self.assertEqual(self.away.conflicts("todo"), [])

    def test_a_late_event_rewinds_a_reader_in_canonical_order(self) -> None:
        self.agent.stop()
        self.away.emit("diary", "early")
        self.other.stop()
        self.agent.start()
        self.home.emit("diary", "late")
        read = [event.payload for event in self.home.events("diary", order="canonical", consumer="book")]
        self.assertEqual(read, ["late"])
        self.other.start()
        together(self.home, self.away)
        with self.assertRaises(lanyard.LanyardError) as caught:
            list(self.home.events("diary", order="canonical", consumer="book"))
        self.assertEqual(caught.exception.code, "unknown_operation")
        rewinds: list[lanyard.Rewind] = []
        again = self.home.events("diary", order="canonical", consumer="book", on_rewind=rewinds.append)
        self.assertEqual([event.payload for event in again], ["early", "late"])
        self.assertEqual([each.stream for each in rewinds], ["diary"])
        self.assertEqual([event.payload for event in self.away.events("diary", order="canonical")], ["early", "late"])

    def test_bytes_are_fetched_from_the_other(self) -> None:
        todo = self.home.save(Todo("Milk"))
        attachment = self.home.attach(todo, b"x" * 3_000_000)
        together(self.home, self.away)
        self.assertEqual(self.away.fetch(attachment).state, "present")
        self.assertEqual(sum(map(len, self.away.read(attachment))), 3_000_000)

    def test_a_type_that_another_device_set_is_an_error_that_names_it(self) -> None:
        @dataclass
        class Ours(LanyardObject, collection="typed"):
            text: Text = ""

        @dataclass
        class Theirs(LanyardObject, collection="typed"):
            text: str = ""

        self.home.save(Ours("x"))
        until(lambda: self.away.query(Ours).count() == 1, "the object is there")
        error = self.assertCode("type_mismatch", lambda: self.away.save(Theirs("y")))
        self.assertIn("The field text of typed is a text in the mesh and a register in Theirs", error.message)


class RoleTests(AgentTestCase):
    """The founder changes what another device may do, and lets it go."""

    other: Agent
    away: lanyard.Client

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.other = Agent(cls)
        cls.away = cls.other.connect()
        pair(cls.home, cls.away)

    def role(self, device: str) -> str:
        return next(each.role for each in self.away.devices() if each.id == device)

    def test_a_reader_writes_nothing_and_the_key_outranks_devices(self) -> None:
        device, own = self.away.status().device.id, self.home.status().device.id
        error = self.assertCode("forbidden", lambda: self.away.set_role(device, "admin"))
        self.assertIn("Only admins change roles.", error.message)
        self.assertEqual(self.home.set_role(device, "reader").role, "reader")
        until(lambda: self.role(device) == "reader", "the other has heard of its role")
        self.assertCode("read_only", lambda: self.away.save(Todo("no")))
        self.assertFalse(self.home.recovery().exists)
        key = self.home.new_recovery_key()
        self.assertFalse(self.home.recovery().exists, "a key counts once it is set")
        self.assertTrue(self.home.set_recovery_key(key).exists)
        self.assertCode("already_exists", self.home.new_recovery_key)
        until(lambda: self.away.recovery().exists, "the other knows the key")
        wrong = key[:-1] + ("A" if key[-1] != "A" else "B")
        mistyped = self.assertCode(
            "invalid_argument", lambda: self.away.set_role(device, "writer", recovery_key=wrong)
        )
        self.assertNotIn(key[20:40], str(mistyped))
        # The key speaks on any device, also on a reader's.
        self.assertEqual(self.away.set_role(device, "writer", recovery_key=key).role, "writer")
        self.away.save(Todo("yes"))
        together(self.home, self.away)
        gone = self.home.revoke(device)
        self.assertEqual((gone.device, gone.heard, gone.waiting_for, gone.also_admitted), (device, [own], [], []))
        [entry] = [each for each in self.home.devices() if each.id == device]
        self.assertEqual((entry.state, entry.heard, entry.revoked_by), ("revoked", [own], own))
        log = list(self.home.device_log())
        self.assertEqual(
            [each.action for each in log][-4:], ["roleGiven", "recoveryKeyMade", "readmitted", "revoked"]
        )
        self.assertEqual([each.by_recovery_key for each in log][-2:], [True, False])


if __name__ == "__main__":
    unittest.main()
