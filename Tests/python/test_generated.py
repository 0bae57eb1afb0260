"""A client that a generator from PyPI made of the agent's OpenAPI document, used against a real agent.

Needs openapi-python-client and httpx beside this Python (`Tests/python/check` installs them).
"""

import importlib
import io
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

from support import ROOT, AgentTestCase

DOCUMENT = ROOT / "Sources/ControlServer/OpenAPI/openapi.json"


class GeneratedClientTests(AgentTestCase):
    generated: Path
    output: str
    client: Any

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        folder = tempfile.TemporaryDirectory(prefix="lanyard-generated-")
        cls.addClassCleanup(folder.cleanup)
        cls.generated = Path(folder.name) / "client"
        command = [str(Path(sys.executable).parent / "openapi-python-client"), "generate", "--path", str(DOCUMENT)]
        command += ["--output-path", str(cls.generated), "--config", str(ROOT / "Tests/python/generator.yaml")]
        outcome = subprocess.run(command, capture_output=True, text=True, check=True)
        cls.output = outcome.stdout + outcome.stderr
        sys.path.insert(0, str(cls.generated))
        cls.addClassCleanup(sys.path.remove, str(cls.generated))
        forward = subprocess.Popen(
            [sys.executable, str(ROOT / "Tests/api/forward"), str(cls.agent.socket)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        cls.addClassCleanup(forward.wait)
        for pipe in (forward.stdout, forward.stdin):
            assert pipe is not None
            cls.addClassCleanup(pipe.close)
        assert forward.stdout is not None
        address = f"http://127.0.0.1:{forward.stdout.readline().strip()}"
        package = importlib.import_module("lanyard_control_api_client")
        cls.client = package.Client(base_url=address, timeout=30)
        cls.addClassCleanup(cls.client.get_httpx_client().close)

    def _call(self, operation: str, *path: str, **rest: Any) -> Any:
        """Calls an operation, such as `objects.put_object`, and returns what the client made of the answer."""
        module = importlib.import_module(f"lanyard_control_api_client.api.{operation}")
        return module.sync(*path, client=self.client, **rest)

    def _model(self, name: str, value: Any) -> Any:
        models = importlib.import_module("lanyard_control_api_client.models")
        return getattr(models, name).from_dict(value)

    def test_the_generator_has_no_warnings(self) -> None:
        self.assertEqual(self.output.strip().splitlines(), [f"Generating {self.generated}"])

    def test_every_operation_was_generated(self) -> None:
        text = DOCUMENT.read_text()
        modules = [path for path in self.generated.glob("*/api/*/*.py") if path.name != "__init__.py"]
        self.assertEqual(len(modules), text.count('"operationId":'))

    def test_objects(self) -> None:
        put = self._call(
            "objects.put_object", "home", "book", "one", body=self._model("Fields", {"title": "One", "pages": 7})
        )
        self.assertEqual((put.id, put.collection, put.fields["pages"]), ("one", "book", 7))
        read = self._call("objects.read_object", "home", "book", "one")
        self.assertEqual((read.fields.to_dict(), read.version), ({"title": "One", "pages": 7}, put.version))
        edit = self._model("SetEdit", {"op": "set", "path": "pages", "value": 8})
        edited = self._call(
            "objects.edit_object",
            "home",
            "book",
            "one",
            body=[edit, "title=Only"],
            if_version=put.version,
            idempotency_key="k",
        )
        self.assertEqual(edited.fields.to_dict(), {"title": "Only", "pages": 8})
        created = self._call("objects.create_object", "home", "book", body=self._model("Fields", {"title": "Two"}))
        listed = self._call("objects.list_objects", "home", "book", sort=["title"], reverse=True, where=["title>=O"])
        self.assertEqual([each.id for each in listed], [created.id, "one"])
        self.assertEqual(self._call("objects.count_objects", "home", "book", where=["pages=8"]).count, 1)
        steps = self._call("objects.history", "home", "book", "one")
        self.assertEqual(steps[0].kind.value, "created")
        self.assertIn("book", [each.name for each in self._call("objects.collections", "home")])
        schema = self._model("SchemaSetting", {"fields": {"notes": "text"}, "indexed": ["title"]})
        self.assertEqual(self._call("objects.set_schema", "home", "book", body=schema).fields["notes"], "text")
        self.assertTrue(self._call("objects.delete_object", "home", "book", created.id).deleted)
        self.assertEqual(self._call("objects.conflicts", "home"), [])

    def test_a_condition_may_hold_blanks(self) -> None:
        """The library writes a blank as `+`, as most do."""
        for title in ("a b", "a+b"):
            self._call("objects.create_object", "home", "blank", body=self._model("Fields", {"title": title}))
            listed = self._call("objects.list_objects", "home", "blank", where=[f'title = "{title}"'])
            self.assertEqual([each.fields["title"] for each in listed], [title])

    def test_an_error_is_an_error_of_the_document(self) -> None:
        error = self._call("objects.read_object", "home", "nothing", "one").error
        self.assertEqual(error.code, "not_found")
        self.assertTrue(error.hint)

    def test_a_transaction(self) -> None:
        operations = [
            {"op": "put", "collection": "pair", "id": "a", "fields": {"n": 1}},
            {"op": "edit", "collection": "pair", "id": "a", "edits": [{"op": "set", "path": "n", "value": 2}]},
            {"op": "emit", "stream": "pairs", "payload": {"n": 2}},
            {"op": "delete", "collection": "pair", "id": "b"},
        ]
        body = self._model("Transaction", {"operations": operations})
        self.assertEqual(body.to_dict()["operations"], operations)
        results = self._call("objects.transaction", body=body).results
        self.assertEqual(results[1].object_.fields["n"], 2)
        self.assertFalse(results[3].deleted)

    def test_events(self) -> None:
        for number in range(3):
            body = self._model("EmitRequest", {"payload": {"n": number}, "type": "tick"})
            self.assertEqual(self._call("events.emit", "home", "ticks", body=body).count, 1)
        page = self._call("events.read_events", "home", "ticks", consumer="reader", limit=2)
        self.assertEqual([each.payload for each in page.events], [{"n": 0}, {"n": 1}])
        acknowledgement = self._model("Acknowledgement", {"stream": "ticks", "position": page.events[1].position})
        self._call("events.acknowledge", "home", "reader", body=acknowledgement)
        [consumer] = [each for each in self._call("events.consumers", "home") if each.name == "reader"]
        self.assertEqual((consumer.behind, consumer.order.value), (1, "arrival"))
        settings = self._model("StreamSettings", {"retainSeconds": 3600})
        self.assertEqual(self._call("events.set_stream", "home", "ticks", body=settings).retain_seconds, 3600)
        self.assertIn("ticks", [each.name for each in self._call("events.streams", "home")])

    def test_attachments(self) -> None:
        types = importlib.import_module("lanyard_control_api_client.types")
        self._call("objects.put_object", "home", "file", "one", body=self._model("Fields", {"title": "One"}))
        data = bytes(range(256)) * 4_000
        attached = self._call(
            "attachments.attach", "home", "file", "one", body=types.File(payload=io.BytesIO(data)), name="a.bin"
        )
        self.assertEqual((attached.size, attached.state.value), (len(data), "present"))
        content = self._call("attachments.attachment_content", "home", attached.id)
        self.assertEqual(content.payload.read(), data)
        self.assertEqual([each.id for each in self._call("attachments.attachments", "home")], [attached.id])
        self.assertTrue(self._call("attachments.pin_attachment", "home", attached.id).pinned)
        self.assertTrue(self._call("attachments.detach", "home", attached.id).detached)

    def test_this_node_and_its_peers(self) -> None:
        self.assertTrue(self._call("health.readiness").ready)
        status = self._call("node.status")
        self.assertEqual(status.spaces[0].name, "home")
        self.assertEqual(self._call("health.version").version, status.version)
        self.assertEqual([each.id for each in self._call("membership.devices", "home")], [status.device.id])
        body = self._model("PeerAddress", {"address": "127.0.0.1:9"})
        self.assertTrue(self._call("peers.add_peer", body=body).changed)
        self.assertIn("127.0.0.1:9", [each.address for each in self._call("peers.peers")])
        self.assertTrue(self._call("peers.remove_peer", "127.0.0.1:9").changed)
        invitation = self._call("membership.invite", body=self._model("InviteRequest", {"expiresSeconds": 60}))
        self.assertTrue(invitation.ticket)
        self.assertTrue(self._call("node.wait", timeout_milliseconds=100).in_step)
        self.assertGreater(len(self._call("node.backup").payload.read()), 1_000)


if __name__ == "__main__":
    unittest.main()
