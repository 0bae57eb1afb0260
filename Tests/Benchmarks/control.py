"""The control socket as a program uses it: HTTP/1.1 on one kept Unix connection, nothing but the standard library."""
import json
import socket


class Control:
    """One connection. Requests go one after the other; `follow` turns the connection into a stream of lines."""

    def __init__(self, path, timeout=120):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(timeout)
        self.socket.connect(path)
        self.rest = b""

    def close(self):
        self.socket.close()

    def _until(self, mark):
        while mark not in self.rest:
            part = self.socket.recv(65536)
            if not part:
                raise ConnectionError("the agent closed the connection")
            self.rest += part
        head, self.rest = self.rest.split(mark, 1)
        return head

    def _exactly(self, count):
        # Joined once: of ten megabytes, adding each part to what is there would take longer than the agent.
        parts, missing = [self.rest[:count]], count - len(self.rest[:count])
        self.rest = self.rest[count:]
        while missing:
            part = self.socket.recv(min(missing, 1 << 20))
            if not part:
                raise ConnectionError("the agent closed the connection")
            parts.append(part)
            missing -= len(part)
        return b"".join(parts)

    def _head(self):
        lines = self._until(b"\r\n\r\n").decode().split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in lines[1:])
        return int(lines[0].split()[1]), headers

    def _chunk(self):
        size = int(self._until(b"\r\n"), 16)
        body = self._exactly(size)
        self._until(b"\r\n")
        return body

    def request(self, method, path, body=b"", kind="application/json"):
        """(status, body bytes)"""
        head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
        self.socket.sendall(head.encode() + body)
        status, headers = self._head()
        if headers.get("transfer-encoding") != "chunked":
            return status, self._exactly(int(headers.get("content-length", 0)))
        chunks = []
        while chunk := self._chunk():
            chunks.append(chunk)
        self._until(b"")
        return status, b"".join(chunks)

    def json(self, method, path, value=None):
        status, body = self.request(method, path, b"" if value is None else json.dumps(value).encode())
        if status != 200:
            raise RuntimeError(f"{method} {path}: {status} {body[:300]!r}")
        return json.loads(body)

    def follow(self, path):
        """Yields lines as they arrive; the connection carries nothing else afterwards."""
        self.socket.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAccept: application/x-ndjson\r\n\r\n".encode())
        status, _ = self._head()
        if status != 200:
            raise RuntimeError(f"GET {path}: {status}")
        pending = b""
        while chunk := self._chunk():
            *lines, pending = (pending + chunk).split(b"\n")
            yield from lines


def payloads(count, seed=1, size=150):
    """`count` JSON objects of `size` bytes that do not compress well, one per line."""
    import base64
    import random
    noise = base64.b64encode(random.Random(seed).randbytes(96 * 1024)).decode()
    lines = []
    for number in range(count):
        begin = '{"n":%d,"d":"' % (number + 1_000_000)
        room = size - len(begin) - 2
        offset = (number * 97) % (len(noise) - size)
        lines.append(begin + noise[offset:offset + room] + '"}')
    return lines
