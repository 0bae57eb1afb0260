"""How long a change takes from one agent to another, seen from both control sockets.

    latency.py SOCKET SOCKET COUNT      prints the median and the 99th of 100, in milliseconds
"""
import sys
import time

from control import Control, payloads
from report import percentile

EMIT = "/v1/spaces/home/streams/latency/events"


class Probe:
    """Request sent to the one → line received from the other's stream: this process holds both sockets."""

    def __init__(self, writer, reader):
        self.writer, self.reader = writer, reader
        self.body = b'{"payload":' + payloads(1)[0].encode() + b"}"
        self.writer.request("POST", EMIT, self.body)
        self.lines = reader.follow(EMIT + "?follow=true")
        # What others emitted before is told first: everything is, up to an event that only we can have made.
        self._drain()

    def _drain(self):
        mark = f"begin-{time.time_ns()}".encode()
        self.writer.request("POST", EMIT, b'{"payload":"' + mark + b'"}')
        while mark not in next(self.lines):
            pass

    def span(self):
        """Milliseconds of one."""
        begun = time.perf_counter()
        self.writer.request("POST", EMIT, self.body)
        next(self.lines)
        return (time.perf_counter() - begun) * 1e3

    def spans(self, count):
        return [self.span() for _ in range(count)]

    def close(self):
        self.writer.close()
        self.reader.close()


def main():
    probe = Probe(Control(sys.argv[1]), Control(sys.argv[2]))
    probe.spans(20)
    spans = probe.spans(int(sys.argv[3]))
    probe.close()
    print(percentile(spans, 50), percentile(spans, 99))


if __name__ == "__main__":
    main()
