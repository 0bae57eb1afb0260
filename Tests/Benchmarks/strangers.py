"""What devices that are no members cost a member's sync: latencies by turns without them and while they knock.

    strangers.py ADDRESS PORT COUNT RATE      knocks, on a machine of its own; prints what became of it
"""
import collections
import json
import os
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time

from latency import Probe
from report import percentile
from world import World

COUNT = 1_000
RATE = 250  # a second
THREADS = 16
SILENCE = 0.2  # seconds
PORT = 21817
# Each has a host's share of the places: eight from one network get as far as TLS at a time.
FIRST_HOST = 100


def measure(report, size):
    with World("benchk", 2) as world:
        stranger = int(world.rig("add"))
        _add_addresses(world, stranger)
        probe, quiet, noisy, ratios = Probe(world.control(1), world.control(2)), [], [], []
        probe.spans(size.latencies)
        for _ in range(size.runs):
            with_them, outcomes = _beside(world, stranger, probe)
            without = probe.spans(len(with_them))
            quiet.append(percentile(without, 99))
            noisy.append(percentile(with_them, 99))
            ratios.append(noisy[-1] / quiet[-1])
            report.note(f"{COUNT} strangers: {outcomes}; {len(with_them)} events meanwhile")
        probe.close()
    report.add("emit → seen on the other node, p99, without strangers", "lanyard", quiet, "ms")
    report.add(f"the same while {COUNT:,} strangers knock", "lanyard", noisy, "ms")
    report.add("with them / without", "lanyard", ratios, "", goal=2.0)


def _add_addresses(world, node):
    network = world.address(node).rsplit(".", 1)[0]
    for host in range(FIRST_HOST, FIRST_HOST + THREADS):
        subprocess.run(world.inside(node, "ip", "address", "add", f"{network}.{host}/24", "dev", "eth0"), check=True)


def _beside(world, node, probe):
    """The latencies from the first stranger to the last, and how many strangers ended how."""
    command = world.inside(
        node, sys.executable, os.path.realpath(__file__), world.address(1), str(PORT), str(COUNT), str(RATE))
    knocking = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        knocking.stdout.readline()
        spans = []
        while knocking.poll() is None:
            spans.append(probe.span())
        outcomes = json.loads(knocking.stdout.read())
    finally:
        knocking.kill()
        knocking.wait()
    if sum(outcomes.values()) != COUNT:
        raise RuntimeError(f"of {COUNT} strangers it tells of {outcomes}")
    return spans, outcomes


# On the strangers' machine


class Strangers:
    """Half of them come with a key of their own as far as they are let; the others say nothing for a while."""

    def __init__(self, address, port, count, rate):
        self.target, self.count, self.rate = (address, port), count, rate
        self.network = address.rsplit(".", 1)[0]
        self.outcomes, self.lock, self.taken = collections.Counter(), threading.Lock(), 0
        self.context = self._context()

    def _context(self):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.set_alpn_protocols(["lanyard/1"])
        with tempfile.TemporaryDirectory() as folder:
            key, certificate = f"{folder}/key.pem", f"{folder}/certificate.pem"
            subprocess.run(
                ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
                 "/CN=stranger", "-days", "1", "-keyout", key, "-out", certificate], check=True, capture_output=True)
            context.load_cert_chain(certificate, key)
        return context

    def run(self):
        print("ready", flush=True)
        self.begun = time.monotonic()
        threads = [threading.Thread(target=self._knock_on, args=(host,)) for host in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        print(json.dumps(self.outcomes))

    def _knock_on(self, host):
        while True:
            with self.lock:
                number, self.taken = self.taken, self.taken + 1
            if number >= self.count:
                return
            time.sleep(max(0, self.begun + number / self.rate - time.monotonic()))
            outcome = self._knock(f"{self.network}.{FIRST_HOST + host}", speaks=number % 2 == 0)
            with self.lock:
                self.outcomes[outcome] += 1

    def _knock(self, source, speaks):
        with socket.socket() as peer:
            peer.settimeout(1 if speaks else SILENCE)
            peer.bind((source, 0))
            try:
                peer.connect(self.target)
                if not speaks:
                    return "silent, closed" if peer.recv(1) == b"" else "silent, answered"
                with self.context.wrap_socket(peer) as secured:
                    return "refused" if secured.recv(1) == b"" else "answered"
            except TimeoutError:
                return "left"
            except ssl.SSLError:
                return "refused"
            except OSError:
                return "turned away"


if __name__ == "__main__":
    Strangers(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])).run()
