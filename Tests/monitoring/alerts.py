#!/usr/bin/env python3
"""Each alert of deploy/monitoring/alerts.yml fires while its fault lasts, and clears after it: a real Prometheus scrapes the
agents of a rig of three and evaluates the rules that ship.

    RIG=rig deploy/rig up 3 && Tests/monitoring/alerts.py [ALERT…]

The rules are those of the file but for their times: no run waits for an hour here. FASTER has each replacement, and one whose
original is not in the file any more fails. What no fault makes is shown by promtool's unit tests alone (NOT_HERE)."""
import http.client
import http.server
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
RULES = ROOT / "deploy/monitoring/alerts.yml"
RIG = os.environ.get("RIG", "rig")
STATE = pathlib.Path(f"/tmp/lanyard-rig-{RIG}")
DISK_MIB = 128

NOT_HERE = {"LanyardDiverged": "no fault outside of the code makes it"}

# Alert: the replacements in its expression. `for` is two seconds everywhere.
FASTER = {
    "LanyardPeerBehind": [("> 300", "> 3")],
    "LanyardPeerAway": [("> 86400", "> 3")],
    "LanyardChangesMissing": [("> 300", "> 2")],
    "LanyardHistoryHeldBack": [("> 1209600", "> 20")],
    "LanyardAttachmentsMissing": [("[30m]", "[5s]")],
    "LanyardReconnecting": [("[10m]", "[30s]"), ("> 5", "> 1")],
    "LanyardRefusing": [("[10m]", "[30s]")],
    # No disk here is slow on demand: that the alert follows the histogram is what is shown.
    "LanyardSlowDisk": [("[10m]", "[5s]"), ("> 0.25", "> 0.00001")],
}


def faster(text):
    """The rules with short times."""
    text, count = re.subn(r"\n        for: \w+", "\n        for: 2s", text)
    assert count, "no rule has a time"
    parts = re.split(r"(?=      - alert: )", text)
    for index, part in enumerate(parts):
        name = re.match(r"      - alert: (\w+)", part)
        for old, new in FASTER.get(name.group(1), []) if name else []:
            assert old in part, f"{name.group(1)} has no {old!r} any more: change FASTER"
            part = part.replace(old, new)
        parts[index] = part
    return "".join(parts)


def rig(*arguments, text=None):
    done = subprocess.run(
        [str(ROOT / "deploy/rig"), *arguments], input=text, capture_output=True, text=True, env=dict(os.environ, RIG=RIG))
    if done.returncode != 0:
        raise AssertionError(f"deploy/rig {' '.join(arguments)} ended with {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def lanyard(node, *arguments, text=None):
    return rig("exec", str(node), "--", "lanyard", *arguments, text=text)


def attempt(node, *command):
    """True if the command succeeds: a write to a full disk does not."""
    done = subprocess.run(
        [str(ROOT / "deploy/rig"), "exec", str(node), "--", *command], capture_output=True, env=dict(os.environ, RIG=RIG))
    return done.returncode == 0


class Bridge(http.server.ThreadingHTTPServer):
    """A port of this machine for the control socket of each node: the rig's networks are closed. It passes a scrape on as it
    is, and has none of a node whose agent is away."""

    daemon_threads = True

    def handle_error(self, *_):
        pass


class Passing(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        node = self.path.split("/")[1]
        connection = http.client.HTTPConnection("localhost", timeout=2)
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.settimeout(2)
        connection.sock.connect(str(STATE / f"node{node}/control.sock"))
        connection.request("GET", "/metrics", headers={"Accept": self.headers["Accept"]})
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.getheader("Content-Type"))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Prometheus:
    def __init__(self, folder, bridge_port, nodes):
        self.port = free_port()
        rules = pathlib.Path(folder, "alerts.yml")
        rules.write_text(faster(RULES.read_text()))
        jobs = "".join(f"""
  - job_name: node{node}
    metrics_path: /{node}/metrics
    static_configs: [{{targets: ['127.0.0.1:{bridge_port}'], labels: {{instance: 'node{node}', job: lanyard}}}}]""" for node in nodes)
        configuration = pathlib.Path(folder, "prometheus.yml")
        configuration.write_text(
            "global: {scrape_interval: 500ms, scrape_timeout: 500ms, evaluation_interval: 500ms}\n"
            f"rule_files: [{rules}]\nscrape_configs:{jobs}\n")
        for arguments in (["check", "config", str(configuration)], ["check", "rules", str(rules)]):
            done = subprocess.run(["promtool", *arguments], capture_output=True, text=True)
            assert done.returncode == 0, f"promtool {' '.join(arguments)}: {done.stdout}{done.stderr}"
        self.log = open(pathlib.Path(folder, "prometheus.log"), "w+")
        self.process = subprocess.Popen(
            ["prometheus", f"--config.file={configuration}", f"--storage.tsdb.path={folder}/data",
             f"--web.listen-address=127.0.0.1:{self.port}", "--log.level=warn"],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)

    def ask(self, path, **query):
        url = f"http://127.0.0.1:{self.port}/api/v1/{path}?{urllib.parse.urlencode(query)}"
        with urllib.request.urlopen(url, timeout=5) as answer:
            return json.load(answer)["data"]

    def firing(self):
        """{(alert, instance): annotations} of what fires now."""
        return {
            (alert["labels"]["alertname"], alert["labels"].get("instance")): alert["annotations"]
            for alert in self.ask("alerts")["alerts"] if alert["state"] == "firing"}

    def value(self, query):
        result = self.ask("query", query=query)["result"]
        return [float(row["value"][1]) for row in result]

    def end(self):
        self.process.terminate()
        self.process.wait()


def until(condition, seconds, what):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(0.1)


class Story:
    def __init__(self, prometheus, only):
        self.prometheus, self.only = prometheus, only
        self.shown = []

    def expect(self, alert, node, begin, end, within=30, clear=40):
        """The alert is off, fires after `begin`, and is off again after `end`."""
        if self.only and alert not in self.only:
            return
        key, begun = (alert, f"node{node}"), time.monotonic()
        until(lambda: key not in self.prometheus.firing(), 60, f"{alert} is off at first")
        begin()
        until(lambda: key in self.prometheus.firing(), within, f"{alert} fires for node {node}")
        fired = time.monotonic() - begun
        notes = self.prometheus.firing().get(key) or {}
        for text in notes.values():
            assert "{{" not in text and "<no value>" not in text and "error" not in text.lower(), f"{alert}: {text}"
        end()
        until(lambda: key not in self.prometheus.firing(), clear, f"{alert} clears for node {node}")
        self.shown.append(alert)
        print(f"{alert}: fired after {fired:.1f} s, clear after {time.monotonic() - begun:.1f} s · {notes.get('summary', '')}", flush=True)


def levelled(*nodes):
    for node in nodes:
        lanyard(node, "wait", "--timeout", "60s")


def stories(story, disk):
    """One fault after the other. `disk` is a node with a small disk of its own."""
    def emit(node, count=1):
        lanyard(node, "emit", "lights", "-", text="".join(f'{{"n":{n}}}\n' for n in range(count)))

    story.expect("LanyardDown", 3, lambda: rig("kill", "3"), lambda: rig("start", "3"))
    levelled(1)

    def stall():
        rig("pause", "2")
        emit(1)
    # Silence ends the session after 15 s; the alert is about the time before.
    story.expect("LanyardPeerBehind", 1, stall, lambda: rig("resume", "2"), within=14)
    levelled(1)

    def leave():
        rig("isolate", "2")
        emit(1)
    story.expect("LanyardPeerAway", 1, leave, lambda: rig("heal"), within=40)
    levelled(1)
    story.expect("LanyardAlone", 2, lambda: rig("isolate", "2"), lambda: rig("heal"), within=40)
    levelled(1)

    def trickle():
        rig("link", "3", "--rate", "1")
        noise = os.urandom(1_500_000).hex()
        rows = "".join(json.dumps({"d": noise[at:at + 30_000]}) + "\n" for at in range(0, len(noise), 30_000))
        lanyard(1, "emit", "noise", "-", text=rows)
    story.expect("LanyardChangesMissing", 3, trickle, lambda: rig("link", "3"), within=40, clear=60)
    levelled(1)
    # What was written since is acknowledged within a minute or two.
    story.expect("LanyardHistoryHeldBack", 1, lambda: emit(1), lambda: None, within=90, clear=180)

    def disagree():
        lanyard(1, "put", "task/door", '{"title":"door"}')
        levelled(1)
        rig("isolate", "3")
        lanyard(1, "edit", "task/door", "title=front door")
        lanyard(3, "edit", "task/door", "title=back door")
        rig("heal")
    story.expect(
        "LanyardConflictsOpen", 1, disagree, lambda: lanyard(1, "conflicts", "resolve", "task/door", "title=door"), within=60)
    levelled(1)

    def attach():
        # The record passes the slow cable, the bytes do not before it is cut.
        rig("link", "3", "--rate", "1")
        path = STATE / "node3/picture"
        path.write_bytes(os.urandom(20_000_000))
        path.chmod(0o644)
        lanyard(3, "put", "task/picture", "{}")
        lanyard(3, "attach", "task/picture", str(path))
        until(lambda: any(story.prometheus.value('lanyard_wanted_attachments{instance="node1"}')), 40, "node 1 wants it")
        rig("isolate", "3")

    def bring():
        rig("link", "3")
        rig("heal")
    story.expect("LanyardAttachmentsMissing", 1, attach, bring, within=60, clear=90)
    levelled(1)

    def flap():
        for _ in range(4):
            rig("kill", "3")
            rig("start", "3")
            levelled(1)
    story.expect("LanyardReconnecting", 1, flap, lambda: None, within=60, clear=60)

    knock = "for n in $(seq 30); do echo GET / >/dev/tcp/10.77.0.1/21817; sleep 0.1; done"
    story.expect("LanyardRefusing", 1, lambda: attempt(2, "bash", "-c", knock), lambda: None, clear=60)

    def late():
        rig("clock", "3", "+5m")
        levelled(1)

    def right():
        rig("clock", "3", "0")
        # The skew is that of the last Hello.
        rig("stop", "3")
        rig("start", "3")
    story.expect("LanyardClockSkew", 1, late, right, within=60)
    levelled(1)

    def write():
        for _ in range(10):
            emit(1)
            time.sleep(0.3)
    story.expect("LanyardSlowDisk", 1, write, lambda: None)

    # The disk is mounted on the node alone. What is written is bounded, too: a wrong path must not fill this machine.
    data = f"{STATE}/node{disk}/data"
    size = int(rig("exec", str(disk), "--", "stat", "-f", "-c", "%b", data)) * int(
        rig("exec", str(disk), "--", "stat", "-f", "-c", "%S", data))
    assert size <= DISK_MIB << 20, f"{data} on node {disk} is a disk of {size} bytes"

    def full():
        attempt(disk, "bash", "-c", f"head -c {DISK_MIB}M /dev/zero >{data}/fill")
        attempt(disk, "lanyard", "emit", "lights", '{"on":true}')

    def empty():
        rig("exec", str(disk), "--", "rm", f"{data}/fill")
        until(lambda: attempt(disk, "lanyard", "emit", "lights", '{"on":true}'), 20, "the disk takes writes")
    story.expect("LanyardDiskFilling", disk, full, empty)
    story.expect("LanyardStoreRefusesWrites", disk, full, empty)


def main():
    known = re.findall(r"- alert: (\w+)", RULES.read_text())
    disk = int(rig("add", "--disk", str(DISK_MIB)))
    ticket = json.loads(lanyard(1, "invite", "--json"))["ticket"]
    lanyard(disk, "join", "-", text=ticket + "\n")
    bridge = Bridge(("127.0.0.1", 0), Passing)
    threading.Thread(target=bridge.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory(prefix="lanyard-prometheus-") as folder:
        prometheus = Prometheus(folder, bridge.server_address[1], [1, 2, 3, disk])
        try:
            until(lambda: is_up(prometheus), 30, "Prometheus scrapes all nodes")
            story = Story(prometheus, sys.argv[1:])
            stories(story, disk)
            missing = sorted(set(story.only or known) - set(story.shown) - set(NOT_HERE))
            assert not missing, f"no story for {missing}"
            print(f"{len(set(story.shown))} of {len(known)} alerts fired and cleared; "
                  + "; ".join(f"{name}: {why}" for name, why in NOT_HERE.items()))
        except BaseException:
            prometheus.log.flush()
            print(pathlib.Path(prometheus.log.name).read_text()[-2_000:], file=sys.stderr)
            raise
        finally:
            prometheus.end()
            bridge.shutdown()


def is_up(prometheus):
    try:
        return sorted(prometheus.value('up{job="lanyard"}')) == [1.0] * 4
    except OSError:
        return False


if __name__ == "__main__":
    main()
