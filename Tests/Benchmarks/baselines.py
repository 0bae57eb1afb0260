"""What the same machine does without Lanyard, in the same run: SQLite alone, a shipper in C, PostgreSQL, Redis."""
import glob
import os
import shutil
import sqlite3
import subprocess
import tempfile
import time

from control import payloads
from report import percentile
from world import World, wait_until

HERE = os.path.dirname(os.path.abspath(__file__))


def database(path):
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("pragma journal_mode=wal")
    connection.execute("pragma synchronous=full")
    connection.execute("create table event(peer int, seq int, body blob, primary key(peer, seq)) without rowid")
    return connection


def disk(report, when):
    """What the disk does at this moment: a shared one may take 0.1 ms now and 8 ms a minute later."""
    spans = []
    with tempfile.NamedTemporaryFile(buffering=0) as file:
        for _ in range(100):
            file.write(b"x" * 4096)
            begun = time.perf_counter()
            os.fdatasync(file.fileno())
            spans.append((time.perf_counter() - begun) * 1e3)
    report.add(f"fdatasync of 4 KiB, {when}", "the disk", [percentile(spans, 50), percentile(spans, 99)], "ms",
               note="least is p50, greatest p99", load=os.getloadavg()[0])


def sqlite(report, size):
    """150-byte rows through Python's driver, one durable commit each."""
    bodies = [line.encode() for line in payloads(size.singles)]
    rates, medians, tails, seq = [], [], [], 0
    with tempfile.TemporaryDirectory() as folder:
        connection = database(f"{folder}/singles.db")
        for run in range(size.runs + 1):
            spans = []
            for body in bodies:
                seq += 1
                begun = time.perf_counter()
                connection.execute("insert into event values(1, ?, ?)", (seq, body))
                spans.append((time.perf_counter() - begun) * 1e3)
            if run > 0:
                rates.append(len(spans) / sum(spans) * 1e3)
                medians.append(percentile(spans, 50))
                tails.append(percentile(spans, 99))
        connection.close()
    report.add("durable emits one at a time", "SQLite, a commit per row", rates, "events/s")
    report.add("durable emit, p50", "SQLite, a commit per row", medians, "ms")
    report.add("durable emit, p99", "SQLite, a commit per row", tails, "ms")


def sqlite_batches(report, size):
    """The same rows in transactions of 256 (the greatest of our commits) and of 1,000."""
    rows = [line.encode() for line in payloads(size.events // 4)]
    for group in (256, 1000):
        rates = []
        with tempfile.TemporaryDirectory() as folder:
            for run in range(size.runs + 1):
                connection = database(f"{folder}/{run}.db")
                begun = time.perf_counter()
                for start in range(0, len(rows), group):
                    connection.execute("begin")
                    connection.executemany(
                        "insert into event values(1, ?, ?)", enumerate(rows[start:start + group], start))
                    connection.execute("commit")
                if run > 0:
                    rates.append(len(rows) / (time.perf_counter() - begun))
                connection.close()
        report.add("durable emits in one upload", f"SQLite, {group} rows a commit", rates, "events/s")
        if group == 1000:
            report.add(f"catch-up of {size.events:,} events", "SQLite alone, one side", rates, "events/s")


def floor(report, size, measure):
    """SQLite → TCP → SQLite in plain C: no TLS, no hashes, no signatures, no protocol. What a wire and two disks allow."""
    if not shutil.which("gcc"):
        return report.skip("floor in C", "gcc is not installed")
    with tempfile.TemporaryDirectory() as folder, World("benchf", 2, "--no-pair", "--no-mdns") as world:
        for node in ("1", "2"):
            world.rig("stop", node)
        program = f"{folder}/floor"
        subprocess.run(["gcc", "-O2", "-o", program, f"{HERE}/floor.c", "-lsqlite3"], check=True)
        measure(report, size, world, folder, program)


def floor_catch_up(report, size, world, folder, program):
    subprocess.run([program, "fill", f"{folder}/source.db", str(size.events)], check=True)
    rates, wire = [], []
    for run in range(size.runs + 1):
        before, copy = world.link_bytes(1), f"{folder}/copy-{run}.db"
        seconds = ship(world, program, copy, ["1000", "full"], "send", f"{folder}/source.db", [str(size.events)])
        os.remove(copy)
        if run > 0:
            rates.append(size.events / seconds[0])
            wire.append((world.link_bytes(1) - before) / size.events)
    report.add(f"catch-up of {size.events:,} events", "floor in C, no TLS", rates, "events/s")
    report.add("catch-up, bytes on the wire per event", "floor in C, no TLS", wire, "bytes")


def floor_latency(report, size, world, folder, program):
    medians, tails = [], []
    for run in range(size.runs + 1):
        spans = ship(world, program, f"{folder}/there-{run}.db", ["1", "full"], "lat", f"{folder}/here-{run}.db",
                     [str(size.latencies), "full"])
        if run > 0:
            medians.append(percentile(spans, 50))
            tails.append(percentile(spans, 99))
    report.add("emit → seen on the other node, p50", "floor in C, no TLS", medians, "ms")
    report.add("emit → seen on the other node, p99", "floor in C, no TLS", tails, "ms")


def ship(world, program, target, receive, verb, source, send):
    address = world.address(2)
    receiver = subprocess.Popen(world.inside(2, program, "recv", target, address, *receive))
    try:
        sent = subprocess.run(
            world.inside(1, program, verb, source, address, *send), check=True, capture_output=True, text=True, timeout=600)
        receiver.wait(30)
    finally:
        receiver.kill()
        receiver.wait()
    return [float(word) for word in sent.stdout.split()]


def postgres(report, size):
    """Logical replication to a second server: rows written in transactions of 1,000, and the first copy of a table."""
    folders = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda path: int(path.split("/")[4]))
    if not folders or not shutil.which("psql"):
        return report.skip("PostgreSQL logical replication", "postgresql is not installed")
    with tempfile.TemporaryDirectory() as folder, World("benchp", 2, "--no-pair", "--no-mdns") as world:
        for node in ("1", "2"):
            world.rig("stop", node)
        shutil.chown(folder, "postgres", "postgres")
        os.chmod(folder, 0o755)
        pair = PostgresPair(world, folders[-1], folder)
        try:
            pair.start()
            system = f"PostgreSQL {folders[-1].split('/')[4]}"
            live, copy, wire = [], [], []
            for run in range(size.runs + 1):
                rate, byte_count = pair.live(size.events)
                first = pair.first_copy(size.events)
                if run > 0:
                    live.append(rate)
                    wire.append(byte_count)
                    copy.append(first)
            report.add(f"catch-up of {size.events:,} events", f"{system}, rows replicated", live, "events/s",
                       note="not durable at once: synchronous_commit=off; no TLS")
            report.add(f"catch-up of {size.events:,} events", f"{system}, first copy", copy, "events/s")
            report.add("catch-up, bytes on the wire per event", f"{system}, rows replicated", wire, "bytes")
        finally:
            pair.stop()


class PostgresPair:
    def __init__(self, world, binaries, folder):
        self.world, self.binaries, self.folder, self.servers = world, binaries, folder, []

    def _command(self, node, *command):
        return self.world.inside(node, "runuser", "-u", "postgres", "--", *command)

    def start(self):
        for node in (1, 2):
            data = f"{self.folder}/{node}"
            subprocess.run(
                self._command(node, f"{self.binaries}/initdb", "-D", data, "-A", "trust", "-N"), check=True,
                capture_output=True, cwd=self.folder)
            with open(f"{data}/postgresql.conf", "a") as file:
                file.write(
                    f"\nlisten_addresses='{self.world.address(node)}'\nport={5499 + node}\n"
                    f"unix_socket_directories='{self.folder}'\nwal_level=logical\nmax_wal_size=4GB\n"
                    "shared_buffers=512MB\nsynchronous_commit=off\n")
            with open(f"{data}/pg_hba.conf", "a") as file:
                file.write("\nhost all all 10.77.0.0/16 trust\n")
            self.servers.append(subprocess.Popen(
                self._command(node, "setpriv", "--pdeathsig", "INT", "--", f"{self.binaries}/postgres", "-D", data),
                cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        for node in (1, 2):
            wait_until(lambda: self.sql(node, "select 1", check=False) == "1", 60, "PostgreSQL answers", 0.1)
            self.sql(node, "create table event(id bigint primary key, peer int, body text)")
        self.sql(1, "create publication p for table event")
        self._subscribe()
        wait_until(self._is_streaming, 60, "PostgreSQL streams", 0.05)

    def _subscribe(self):
        self.sql(2, f"create subscription s connection 'host={self.world.address(1)} port=5500 user=postgres "
                    "dbname=postgres' publication p")

    def _is_streaming(self):
        return self.sql(2, "select srsubstate from pg_subscription_rel") == "r"

    def sql(self, node, text, check=True):
        done = subprocess.run(
            ["psql", "-h", self.folder, "-p", str(5499 + node), "-U", "postgres", "-Atq", "-c", text, "postgres"],
            capture_output=True, text=True)
        if check and done.returncode != 0:
            raise RuntimeError(done.stderr.strip()[-300:])
        return done.stdout.strip()

    def _wait_for(self, count):
        wait_until(lambda: self.sql(2, "select count(*) from event") == str(count), 600, f"{count} rows", 0.05)

    def live(self, count):
        self.sql(1, "truncate event")
        self._wait_for(0)
        for node in (1, 2):
            self.sql(node, "checkpoint")
        before, begun = self.world.link_bytes(1), time.monotonic()
        self.sql(1, f"""do $$ begin for k in 0..{count // 1000 - 1} loop
            insert into event select i, i % 7, lpad(md5(i::text) || md5((i*7)::text) || md5((i*13)::text), 134, 'x')
            from generate_series(k * 1000 + 1, (k + 1) * 1000) i; commit; end loop; end $$""")
        self._wait_for(count)
        return count / (time.monotonic() - begun), (self.world.link_bytes(1) - before) / count

    def first_copy(self, count):
        self.sql(2, "drop subscription s")
        self.sql(2, "truncate event")
        begun = time.monotonic()
        self._subscribe()
        self._wait_for(count)
        rate = count / (time.monotonic() - begun)
        wait_until(self._is_streaming, 60, "PostgreSQL streams", 0.05)
        return rate

    def stop(self):
        for node, server in enumerate(self.servers, 1):
            subprocess.run(
                self._command(node, f"{self.binaries}/pg_ctl", "-D", f"{self.folder}/{node}", "-m", "immediate", "stop"),
                capture_output=True, cwd=self.folder)
            server.kill()
            server.wait()


def redis(report, size):
    """A stream replicated to a second server, in memory only: neither side is durable."""
    if not shutil.which("redis-server") or not shutil.which("redis-cli"):
        return report.skip("Redis", "redis-server is not installed")
    with tempfile.TemporaryDirectory() as folder, World("benchr", 2, "--no-pair", "--no-mdns") as world:
        servers = []
        commands = f"{folder}/commands"
        with open(commands, "wb") as file:
            for line in payloads(size.events):
                file.write(b"*5\r\n$4\r\nXADD\r\n$1\r\ns\r\n$1\r\n*\r\n$1\r\nd\r\n$150\r\n" + line.encode() + b"\r\n")

        def ask(node, *words):
            return subprocess.run(
                world.inside(node, "redis-cli", "-h", world.address(node), "-p", "6390", *words), capture_output=True,
                text=True).stdout.strip()

        try:
            for node in (1, 2):
                world.rig("stop", str(node))
                os.mkdir(f"{folder}/{node}")
                servers.append(subprocess.Popen(
                    world.inside(node, "setpriv", "--pdeathsig", "KILL", "--", "redis-server", "--port", "6390", "--bind", world.address(node), "--dir",
                                 f"{folder}/{node}", "--save", "", "--appendonly", "no", "--protected-mode", "no",
                                 "--repl-diskless-sync-delay", "0"),
                    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
            for node in (1, 2):
                wait_until(lambda: ask(node, "ping") == "PONG", 20, "Redis answers", 0.05)
            ask(2, "replicaof", world.address(1), "6390")
            wait_until(lambda: "master_link_status:up" in ask(2, "info", "replication"), 30, "Redis replicates", 0.05)
            rates, wire = [], []
            for run in range(size.runs + 1):
                ask(1, "flushall")
                wait_until(lambda: ask(2, "xlen", "s") == "0", 30, "Redis is empty", 0.02)
                before, begun = world.link_bytes(1), time.monotonic()
                with open(commands, "rb") as file:
                    subprocess.run(
                        world.inside(1, "redis-cli", "-h", world.address(1), "-p", "6390", "--pipe"), stdin=file,
                        check=True, capture_output=True)
                wait_until(lambda: ask(2, "xlen", "s") == str(size.events), 300, "Redis has all", 0.01)
                if run > 0:
                    rates.append(size.events / (time.monotonic() - begun))
                    wire.append((world.link_bytes(1) - before) / size.events)
            report.add(f"catch-up of {size.events:,} events", "Redis, in memory", rates, "events/s", note="not durable, no TLS")
            report.add("catch-up, bytes on the wire per event", "Redis, in memory", wire, "bytes")
        finally:
            for server in servers:
                server.kill()
                server.wait()
