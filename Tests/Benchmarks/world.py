"""Two and more machines in one, by `deploy/rig`, and what can be measured of them from outside."""
import json
import os
import subprocess
import time

from control import Control

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
RIG = os.path.join(ROOT, "deploy", "rig")
BINARIES = os.environ.get("RIG_BINARIES") or os.path.join(ROOT, ".build", "release")


def wait_until(condition, seconds, what, step=0.002):
    """The moment the condition was first true."""
    end = time.monotonic() + seconds
    while True:
        if condition():
            return time.monotonic()
        if time.monotonic() > end:
            raise TimeoutError(f"after {seconds} s not yet: {what}")
        time.sleep(step)


class World:
    """A rig of its own; `with World("benchA", 2) as world`. Nodes are numbered from 1."""

    def __init__(self, name, nodes, *options):
        self.name, self.nodes, self.options = name, nodes, options
        self.state = f"/tmp/lanyard-rig-{name}"

    def __enter__(self):
        self.rig("down")
        self.rig("up", str(self.nodes), *self.options)
        return self

    def __exit__(self, *_):
        self.rig("down")

    def rig(self, *arguments):
        environment = dict(os.environ, RIG=self.name, RIG_BINARIES=BINARIES, RIG_TIMEOUT="60")
        done = subprocess.run([RIG, *arguments], env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"deploy/rig {' '.join(arguments)}: {done.stderr.strip()[-600:]}")
        return done.stdout.strip()

    # Nodes

    def directory(self, node):
        return f"{self.state}/node{node}"

    def socket(self, node):
        return f"{self.directory(node)}/control.sock"

    def control(self, node, timeout=120):
        return Control(self.socket(node), timeout)

    def ask(self, node, path):
        control = self.control(node)
        try:
            return control.json("GET", path)
        finally:
            control.close()

    def home(self, node):
        return self.ask(node, "/v1/status?space=home")["spaces"][0]

    def connected(self, node):
        return [peer["name"] for peer in self.ask(node, "/v1/peers") if peer["state"] == "connected"]

    def pid(self, node, daemon="agent"):
        return int(open(f"{self.directory(node)}/{daemon}.pid").read())

    def inside(self, node, *command):
        """The command line that runs `command` as if on that machine."""
        first = open(f"{self.directory(node)}/pid").read().strip()
        return ["nsenter", "--target", first, "--net", "--mount", "--uts", "--pid", "--", *command]

    def address(self, node):
        return open(f"{self.directory(node)}/address").read().strip()

    def lanyard(self, node, *arguments, stdin=None, timeout=60):
        environment = dict(os.environ, LANYARD_SOCKET=self.socket(node))
        done = subprocess.run(
            [os.path.join(BINARIES, "lanyard"), *arguments], env=environment, input=stdin, capture_output=True, text=True,
            timeout=timeout)
        if done.returncode != 0:
            raise RuntimeError(f"lanyard {' '.join(arguments)}: {done.stderr.strip()[-300:]}")
        return done.stdout

    def ticket(self, node):
        return json.loads(self.lanyard(node, "invite", "--json"))["ticket"]

    def join(self, node, ticket):
        self.lanyard(node, "join", "-", stdin=ticket)

    def agree(self, one, other):
        left, right = self.home(one), self.home(other)
        return left["digest"] == right["digest"] and left["versionVector"] == right["versionVector"]

    # Wires

    def link_bytes(self, node):
        """Both ways, as the interface counts them: Ethernet frames, mDNS and all."""
        folder = "/sys/class/net/eth0/statistics"
        text = subprocess.run(
            self.inside(node, "cat", f"{folder}/rx_bytes", f"{folder}/tx_bytes"), capture_output=True, text=True,
            check=True).stdout
        return sum(int(word) for word in text.split())

    def count_sessions(self, node, *peers):
        """From now on `session_bytes` counts the IP packets between the agents: TCP on the agents' port, both ways.
        What they say to others, and dials of members that are off, is not theirs."""
        addresses = [pair for peer in peers for pair in (("ip", self.address(peer)), ("ip6", f"fe80::{peer:x}"))]

        def counters(side):
            return " ".join(
                f"{family} {side} {address} tcp {port} 21817 counter;"
                for family, address in addresses for port in ("sport", "dport"))

        rules = f"""
            table inet bench {{ }}
            delete table inet bench
            table inet bench {{
                chain in {{ type filter hook input priority 0; {counters("saddr")} }}
                chain out {{ type filter hook output priority 0; {counters("daddr")} }}
            }}"""
        subprocess.run(self.inside(node, "nft", "-f", "-"), input=rules, text=True, check=True)

    def session_bytes(self, node):
        text = subprocess.run(
            self.inside(node, "nft", "-j", "list", "table", "inet", "bench"), capture_output=True, text=True,
            check=True).stdout
        total = 0
        for item in json.loads(text)["nftables"]:
            for part in item.get("rule", {}).get("expr", []):
                total += part.get("counter", {}).get("bytes", 0)
        return total
