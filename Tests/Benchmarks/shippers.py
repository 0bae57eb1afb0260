"""What else brings files from one machine to another: rsync, Syncthing, and a bare connection with and without TLS.

Each is a context manager made of (world, source folder on node 1, target folder on node 2); `ship(files, bytes)` brings
what lies in the source to the target, which is empty, and returns seconds.
"""
import http.client
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import xml.etree.ElementTree as xml

from world import wait_until

HERE = os.path.dirname(os.path.abspath(__file__))
NOTHING = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


def on(world, node, *command):
    """A command line that ends with whoever started it."""
    return world.inside(node, "setpriv", "--pdeathsig", "KILL", "--", *command)


class Rsync:
    """A daemon on node 1, a client on node 2: plain TCP, one stream, whole files (there is nothing to compare with)."""

    name, package = "rsync daemon, plain TCP", "rsync"
    options = []

    @staticmethod
    def is_here():
        return shutil.which("rsync")

    def __init__(self, world, source, target):
        self.world, self.source, self.target = world, source, target

    def __enter__(self):
        self.configuration = f"{self.source}.rsyncd"
        with open(self.configuration, "w") as file:
            file.write("use chroot = no\nuid = root\nlog file = /dev/null\n"
                       f"[files]\npath = {self.source}\nread only = yes\n")
        command = ["rsync", "--daemon", "--no-detach", f"--config={self.configuration}", "--port=8730"]
        self.daemon = subprocess.Popen(on(self.world, 1, *command), **NOTHING)
        wait_until(lambda: answers(self.world, 8730), 10, "rsync's daemon listens", 0.05)
        return self

    def __exit__(self, *_):
        self.daemon.kill()
        self.daemon.wait()
        os.remove(self.configuration)

    def ship(self, files, byte_count):
        begun = time.monotonic()
        subprocess.run(
            on(self.world, 2, "rsync", "--archive", "--whole-file", *self.options,
               f"rsync://{self.world.address(1)}:8730/files/", f"{self.target}/"), check=True, **NOTHING)
        return time.monotonic() - begun


class DurableRsync(Rsync):
    """The same, each file synced before it counts: what ours does."""

    name = "rsync daemon, --fsync"
    options = ["--fsync"]


def answers(world, port):
    return subprocess.run(
        world.inside(2, "bash", "-c", f"exec 3<>/dev/tcp/{world.address(1)}/{port}"), **NOTHING).returncode == 0


class Pipe:
    """One connection from node 1 to node 2 (pipe.py): no protocol, no hashes. Many files go as one archive."""

    name, tls = "plain TCP, bare", False

    @staticmethod
    def is_here():
        return True

    def __init__(self, world, source, target):
        self.world, self.source, self.target, self.port = world, source, target, 8740

    def __enter__(self):
        self.identity = []
        if self.tls:
            self.identity = [f"{self.source}.crt", f"{self.source}.key"]
            subprocess.run(
                ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                 "-days", "2", "-subj", "/CN=bench", "-out", self.identity[0], "-keyout", self.identity[1]],
                check=True, **NOTHING)
        return self

    def __exit__(self, *_):
        for file in self.identity:
            os.remove(file)

    def ship(self, files, byte_count):
        self.port += 1
        program, address = [sys.executable, f"{HERE}/pipe.py"], [self.world.address(2), str(self.port)]
        archive = files > 1
        name = "-" if archive else next(os.scandir(self.source)).name
        receive = on(self.world, 2, *program, "receive", "-" if archive else f"{self.target}/{name}", *address,
                     *self.identity)
        send = on(self.world, 1, *program, "send", "-" if archive else f"{self.source}/{name}", *address,
                  *(["tls"] if self.tls else []))
        with subprocess.Popen(receive, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as receiver:
            receiver.stderr.readline()  # it listens
            begun = time.monotonic()
            if not archive:
                subprocess.run(send, check=True)
                return time.monotonic() - begun
            unpack = subprocess.Popen(["tar", "--extract", "--directory", self.target], stdin=receiver.stdout)
            pack = subprocess.Popen(["tar", "--create", "--directory", self.source, "."], stdout=subprocess.PIPE)
            subprocess.run(send, stdin=pack.stdout, check=True)
            # Each is waited for, and one sync of the whole file system makes all of them durable.
            if pack.wait() != 0 or unpack.wait() != 0:
                raise RuntimeError("tar failed")
            subprocess.run(["sync", "--file-system", self.target], check=True)
            return time.monotonic() - begun


class TLSPipe(Pipe):
    name, tls = "TLS 1.3, bare", True


class Syncthing:
    """Two instances that know each other's address, found and served by nobody else. From the order to look at the
    folder until the other side has all of it: the hashing on node 1 is inside, and said apart."""

    name, package = "Syncthing", "syncthing"

    @staticmethod
    def is_here():
        return shutil.which("syncthing")

    def __init__(self, world, source, target):
        self.world, self.folders = world, {1: source, 2: target}
        self.homes = {node: f"{folder}.syncthing" for node, folder in self.folders.items()}
        self.processes, self.scan_seconds = [], 0.0

    def __enter__(self):
        for node in (1, 2):
            subprocess.run(
                ["syncthing", "generate", "--home", self.homes[node], "--no-default-folder"], check=True, **NOTHING)
        self.devices = {
            node: xml.parse(f"{home}/config.xml").find("device").get("id") for node, home in self.homes.items()}
        for node in (1, 2):
            self._configure(node)
            self.processes.append(subprocess.Popen(
                on(self.world, node, "syncthing", "serve", "--home", self.homes[node], "--no-browser", "--no-restart",
                   "--no-upgrade"), **NOTHING))
        wait_until(self._is_connected, 90, "two Syncthings are connected", 0.1)
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()
            process.wait()
        for home in self.homes.values():
            shutil.rmtree(home)

    def _configure(self, node):
        """Nothing but the two: no servers of others, no watching, nothing that a person would be asked."""
        path = f"{self.homes[node]}/config.xml"
        tree = xml.parse(path)
        root = tree.getroot()
        for part in root.findall("device") + root.findall("folder"):
            root.remove(part)
        folder = xml.SubElement(root, "folder", {
            "id": "bench", "label": "bench", "path": self.folders[node], "type": "sendreceive", "rescanIntervalS": "0",
            "fsWatcherEnabled": "false", "ignorePerms": "true"})
        xml.SubElement(folder, "markerName").text = "."
        for other in (1, 2):
            xml.SubElement(folder, "device", {"id": self.devices[other]})
            device = xml.SubElement(root, "device", {
                "id": self.devices[other], "name": f"node{other}", "compression": "never"})
            xml.SubElement(device, "address").text = f"tcp://{self.world.address(other)}:22000"
        options = {
            "listenAddress": f"tcp://{self.world.address(node)}:22000", "globalAnnounceEnabled": "false",
            "localAnnounceEnabled": "false", "relaysEnabled": "false", "natEnabled": "false", "urAccepted": "-1",
            "crashReportingEnabled": "false", "autoUpgradeIntervalH": "0", "startBrowser": "false",
            "reconnectionIntervalS": "1"}
        for name, value in options.items():
            element = root.find(f"options/{name}")
            if element is None:
                element = xml.SubElement(root.find("options"), name)
            element.text = value
        gui = root.find("gui")
        gui.find("address").text = f"{self.homes[node]}/socket"
        gui.find("apikey").text = "bench"
        tree.write(path)

    def _ask(self, node, path, method="GET"):
        connection = http.client.HTTPConnection("localhost", timeout=600)
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.connect(f"{self.homes[node]}/socket")
        connection.request(method, path, headers={"X-API-Key": "bench"})
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        if answer.status != 200:
            raise RuntimeError(f"Syncthing, {path}: {answer.status} {body[:200]!r}")
        return json.loads(body) if body.strip() else None

    def _is_connected(self):
        try:
            connections = self._ask(1, "/rest/system/connections")["connections"]
        except OSError:
            return False
        return connections.get(self.devices[2], {}).get("connected", False)

    def ship(self, files, byte_count):
        begun = time.monotonic()
        self._ask(1, "/rest/db/scan?folder=bench", "POST")
        self.scan_seconds = time.monotonic() - begun

        def has_all():
            status = self._ask(2, "/rest/db/status?folder=bench")
            return status["localFiles"] == files and status["localBytes"] == byte_count and status["needFiles"] == 0

        return wait_until(has_all, 900, "Syncthing has all", 0.02) - begun

    def forget(self):
        """What was shipped is gone on both sides, and known to be."""
        self._ask(1, "/rest/db/scan?folder=bench", "POST")
        wait_until(
            lambda: self._ask(2, "/rest/db/status?folder=bench")["localFiles"] == 0, 120, "Syncthing has nothing", 0.05)
