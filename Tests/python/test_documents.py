"""The pages: every block of the package's page and of deploy/HTTP.md is run."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import types
import unittest
from pathlib import Path
from typing import Any

from support import PACKAGE, PATIENCE, ROOT, Agent, AgentTestCase, pair, together, until

HTTP_PAGE = ROOT / "deploy/HTTP.md"
#: The exit status of curl when its `--max-time` is over.
TIMED_OUT = 28
#: The exit status of curl for an error of the agent.
REFUSED = 22


def blocks(page: Path, language: str) -> list[str]:
    """Returns the blocks of a page that are in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)


class PackagePageTests(AgentTestCase):
    def test_what_the_page_of_the_package_shows_works_as_it_stands(self) -> None:
        class Enough(Exception):
            """Ends a loop that would go on for ever."""

        shown: list[Any] = []

        def show(value: Any) -> None:
            shown.append(value)
            if isinstance(value, list):
                raise Enough

        # A module of its own, in which the dataclass finds its annotations.
        page = types.ModuleType("page")
        page.__dict__["show"] = show
        sys.modules["page"] = page
        self.addCleanup(sys.modules.pop, "page")
        os.environ["LANYARD_SOCKET"] = str(self.agent.socket)
        self.addCleanup(os.environ.pop, "LANYARD_SOCKET")
        self.home.call("PUT", "/v1/spaces/home/collections/note/objects/trip", body={"title": "Trip"})
        texts = blocks(PACKAGE / "README.md", "python")
        self.assertEqual(len(texts), 5)
        endless = 0
        for text in texts:
            try:
                exec(compile(text, "README.md", "exec"), page.__dict__)  # noqa: S102
            except Enough:
                endless += 1
        self.assertEqual(endless, 2)
        lists = [[each.title for each in value] for value in shown if isinstance(value, list)]
        self.assertEqual(lists, [["Milk"], ["Bread", "Milk"]])
        self.assertIn({"lamp": "hall", "on": True}, shown)

    def test_the_ten_lines_are_ten(self) -> None:
        lines = [line for line in blocks(PACKAGE / "README.md", "python")[0].splitlines() if line.strip()]
        self.assertLessEqual(len(lines), 12)


class Screen:
    """What a person sees of a pairing: the lines that curl writes to a file."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def lines(self, event: str) -> list[dict[str, Any]]:
        """Returns the lines of an event, of those that are whole."""
        text = self.file.read_text() if self.file.exists() else ""
        lines = [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]
        return [line for line in lines if line["event"] == event]

    def shows(self, device: str) -> bool:
        """Returns True if the device is among those that pair."""
        return any(each["id"] == device for line in self.lines("devices") for each in line["devices"])

    def code(self) -> str:
        """Waits for the code and returns it."""
        lines = until(lambda: self.lines("code"), f"{self.file} has a code")
        return str(lines[0]["code"])


class HTTPPageTests(AgentTestCase):
    def setUp(self) -> None:
        self.operations = [
            (method.upper(), path)
            for path, item in json.loads((ROOT / "Sources/ControlServer/OpenAPI/openapi.json").read_text())[
                "paths"
            ].items()
            for method in item
            if method in ("get", "put", "post", "patch", "delete")
        ]

    def _commands(self) -> list[str]:
        text = "".join(blocks(HTTP_PAGE, "sh"))
        commands: list[str] = []
        for line in text.splitlines(keepends=True):
            if commands and (commands[-1].endswith("\\\n") or commands[-1].count("'") % 2):
                commands[-1] += line
            else:
                commands.append(line)
        return commands

    def test_every_route_is_on_the_page(self) -> None:
        shown = set()
        for command in self._commands():
            found = re.search(r"http://l(/[^\s?\"]*)", command)
            self.assertIsNotNone(found, command)
            assert found
            sends = re.search(r"--json|--data-binary", command)
            method = re.search(r"-X (\w+)", command)
            shown.add((method[1] if method else "POST" if sends else "GET", found[1]))
        for method, path in self.operations:
            # A word of a longer path is no name: `consumers` is not a device.
            pattern = re.compile(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(path)))
            matches = [each for each in shown if each[0] == method and pattern.fullmatch(each[1])]
            self.assertTrue(matches, f"{method} {path} is not on the page")

    def test_the_page_shows_nothing_that_is_no_route(self) -> None:
        known = [re.compile(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(path))) for _, path in self.operations]
        for command in self._commands():
            for path in re.findall(r"http://l(/[^\s?\"]*)", command):
                self.assertTrue(any(pattern.fullmatch(path) for pattern in known), command)

    def test_every_command_works_from_the_first_to_the_last(self) -> None:
        other, third = Agent(self), Agent(self)
        folder = self.agent.folder
        # Of two devices that pair the one with more members is the host: so this one stays the founder, and an admin.
        gone = third.connect()
        pair(self.home, gone)
        device = gone.status().device.id
        third.stop()
        self.home.call("POST", f"/v1/spaces/home/devices/{device}/retirement")
        (folder / "receipt.jpg").write_bytes(b"a receipt")
        (folder / "state.bin").write_bytes(b"a state")
        # Errors end curl with an exit status, as the page says.
        (folder / ".curlrc").write_text("fail-with-body\nsilent\nshow-error\n")
        saved = tempfile.mkdtemp(prefix="lanyard-saved-")
        self.addCleanup(shutil.rmtree, saved)
        environment = {
            **os.environ, "S": str(self.agent.socket), "CURL_HOME": str(folder), "HOME": str(folder), "SAVED": saved
        }
        here, there = Screen(folder / "pairing"), Screen(other.folder / "pairing")
        for command in self._commands():
            if "DEVICE" in command:
                self._pair(other)
                device = other.connect().status().device.id
                until(lambda device=device: here.shows(device), "the other device pairs")
                command = command.replace("DEVICE", device)
            if "123 456" in command:
                other.connect().call("PUT", "/v1/pairing/code", body={"code": here.code()})
                command = command.replace("123 456", there.code())
            if "TICKET" in command:
                command = command.replace("TICKET", other.connect().invite().ticket)
            assigned = re.match(r"(\w)=\$\(", command)
            script = f"set -euo pipefail\n{command}" + (f'printf %s "${assigned[1]}" >&3' if assigned else "")
            outcome, value = self._run(script, environment)
            if "--max-time 1" in command and not outcome.stdout:
                # On a busy machine a stream begins later than a reader waits.
                outcome, value = self._run(script.replace("--max-time 1", "--max-time 30"), environment)
            with self.subTest(command):
                expected = TIMED_OUT if "--max-time" in command else 0
                if "/acceptance" in command and outcome.returncode == REFUSED:
                    # Which of two devices is the admin is decided when they pair.
                    self.assertIn('"forbidden"', outcome.stdout)
                    continue
                self.assertEqual(outcome.returncode, expected, outcome.stdout + outcome.stderr)
                if "where=" in command:
                    self.assertRegex(outcome.stdout, r'^\[\{"id":"trip".*\}\]$|^\{"count":1,')
                if expected:
                    self.assertTrue(outcome.stdout, "a stream begins with what there is")
            if assigned:
                self.assertNotIn(value, ("", "null"), command)
                environment[assigned[1]] = value
            if "/v1/pairing/code" in command:
                for screen in (here, there):
                    until(lambda screen=screen: screen.lines("paired"), f"{screen.file} ends well")
            if "/v1/pairing/code" in command or "/v1/join" in command:
                together(self.home, other.connect())
        self.assertEqual((folder / "copy.jpg").read_bytes(), b"a receipt")
        self.assertEqual((folder / "restored.bin").read_bytes(), b"a state")
        self.assertGreater((folder / "saved.lanyard").stat().st_size, 1_000)

    def _pair(self, other: Agent) -> None:
        """Types the same at the other device, with the address of this one."""
        with open(other.folder / "pairing", "wb") as output:
            request = ["curl", "-sN", "--unix-socket", str(other.socket), "http://l/v1/pairing"]
            body = ["--json", json.dumps({"device": self.agent.address}), "-H", "Accept: application/x-ndjson"]
            process = subprocess.Popen([*request, *body], stdout=output)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)

    def _run(self, script: str, environment: dict[str, str]) -> tuple[subprocess.CompletedProcess[str], str]:
        """Runs a script; the second value is what it wrote to its third descriptor."""
        kept = self.agent.folder / "kept"
        kept.write_text("")
        outcome = subprocess.run(
            ["bash", "-c", f"exec 3>{kept}\n{script}"],
            cwd=self.agent.folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE * 2,
        )
        return outcome, kept.read_text()


if __name__ == "__main__":
    unittest.main()
