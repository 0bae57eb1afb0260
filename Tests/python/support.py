"""Real agents for the tests: started on loopback, ended by process id with the test that started them."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "Sources/Clients/python"
sys.path.insert(0, str(PACKAGE / "src"))

import lanyard  # noqa: E402
from lanyard import Counter, LanyardObject, Text  # noqa: E402

PROGRAM = Path(os.environ.get("LANYARDD") or ROOT / ".build/release/lanyardd")
#: The longest time that a test waits for something that happens in milliseconds on a machine with nothing else to do.
PATIENCE = 120.0


@dataclass
class Todo(LanyardObject):
    title: str = ""
    done: bool = False
    tags: set[str] = field(default_factory=set)
    opened: Counter = 0
    body: Text = ""
    steps: list[str] = field(default_factory=list)
    extra: dict[str, Any] = field(default_factory=dict)


def until(condition: Callable[[], Any], what: str) -> Any:
    """Returns the first true value of `condition`; fails with `what` after `PATIENCE`."""
    end = time.monotonic() + PATIENCE
    while not (value := condition()):
        if time.monotonic() > end:
            raise AssertionError(f"after {PATIENCE} s still not: {what}")
        time.sleep(0.01)
    return value


def free_port() -> int:
    """Returns a TCP port of the loopback that is free.

    It is below those that Linux gives to connections: no other program is given it before the agent has it, or while
    the agent is down.
    """
    while True:
        port = random.randrange(20_000, 32_768)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port


class Agent:
    """An agent of its own, in a folder of its own."""

    def __init__(self, test: Any) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="lanyard-"))
        self.socket = self.folder / "control.sock"
        # The same after a restart, so that the other finds it again without mDNS.
        self.address = f"127.0.0.1:{free_port()}"
        self.process: subprocess.Popen[bytes] | None = None
        add = getattr(test, "addCleanup", None) if isinstance(test, unittest.TestCase) else test.addClassCleanup
        add(self._remove)
        self.start()

    def start(self) -> None:
        """Starts the program and waits until it is ready."""
        if not os.access(PROGRAM, os.X_OK):
            raise AssertionError(f"{PROGRAM} is missing. Build it: swift build -c release --product lanyardd")
        arguments = [str(PROGRAM), "--data-dir", str(self.folder), "--no-mdns", "--listen", self.address]
        arguments += ["--dashboard", "0"]
        # An agent does not outlive a test process that was killed.
        guard = ["setpriv", "--pdeathsig", "KILL"]
        with open(self.folder / "output", "ab") as output:
            self.process = subprocess.Popen([*guard, *arguments], stdout=output, stderr=output)
        until(self._is_ready, f"the agent is ready: {self.output()[-2000:]}")

    def output(self) -> str:
        """Returns what the agent printed."""
        return (self.folder / "output").read_text(errors="replace")

    def _is_ready(self) -> bool:
        assert self.process is not None
        if self.process.poll() is not None:
            raise AssertionError(f"the agent ended: {self.output()}")
        try:
            return bool(self.connect().call("GET", "/readyz")["ready"])
        except lanyard.LanyardError:
            return False

    def stop(self, number: int = signal.SIGTERM) -> None:
        """Ends the agent and waits for its end."""
        if self.process is not None:
            self.process.send_signal(number)
            self.process.wait(timeout=PATIENCE)
        self.process = None

    def kill(self) -> None:
        """Ends the agent as a crash does."""
        self.stop(signal.SIGKILL)

    def _remove(self) -> None:
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def connect(self) -> lanyard.Client:
        """Returns a client of this agent."""
        return lanyard.connect(self.socket)

    async def connect_async(self) -> lanyard.AsyncClient:
        """Returns an asynchronous client of this agent."""
        return await lanyard.connect_async(self.socket)


def connections_of(agent: Agent) -> int:
    """Returns the number of connections to the socket of an agent that are open."""
    lines = Path("/proc/net/unix").read_text().splitlines()
    return sum(line.endswith(f" {agent.socket}") and line.split()[5] == "03" for line in lines)


def pair(one: lanyard.Client, two: lanyard.Client) -> None:
    """Lets the device of `two` in, and waits until both are in step."""
    two.join(one.invite().ticket)
    together(one, two)


def together(*homes: lanyard.Client) -> None:
    """Waits until all have the same."""
    until(
        lambda: (
            len({home.status().spaces[0].digest for home in homes}) == 1
            and all(home.wait(0.2, peers=len(homes) - 1).in_step for home in homes)
        ),
        "all devices are in step",
    )


class LossyRelay:
    """A socket in front of an agent's that passes each exchange on, and loses the answers of the first `losses`."""

    def __init__(self, test: unittest.TestCase, agent: Agent, losses: int) -> None:
        self.path = agent.folder / "relay.sock"
        self.losses = losses
        self.requests: list[bytes] = []
        self._upstream = str(agent.socket)
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self.path))
        self._listener.listen(16)
        test.addCleanup(self._end)
        threading.Thread(target=self._serve, daemon=True).start()

    def _end(self) -> None:
        self._listener.close()
        self.path.unlink()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            with client, socket.socket(socket.AF_UNIX) as agent:
                agent.connect(self._upstream)
                request = client.recv(1 << 20)
                self.requests.append(request)
                agent.sendall(request)
                answer = agent.recv(1 << 20)
                if len(self.requests) > self.losses:
                    client.sendall(answer)


class AgentTestCase(unittest.TestCase):
    """Tests that share one agent."""

    agent: Agent
    home: lanyard.Client

    @classmethod
    def setUpClass(cls) -> None:
        cls.agent = Agent(cls)
        cls.home = cls.agent.connect()

    def assertCode(self, code: str, call: Callable[[], Any]) -> lanyard.LanyardError:
        """Asserts that `call` raises the error with that code, and returns it."""
        with self.assertRaises(lanyard.LanyardError) as caught:
            call()
        self.assertEqual(caught.exception.code, code, str(caught.exception))
        return caught.exception

    def run_async(self, main: Any) -> Any:
        """Runs a coroutine with a bound."""
        return asyncio.run(asyncio.wait_for(main, PATIENCE))
