#!/usr/bin/env python3
"""Random histories of one text (text_histories.js) in a real browser, with the code of the example's page.

    Tests/browser/text.py [HISTORIES]
"""

import http.server
import pathlib
import socket
import subprocess
import sys
import threading
import time

from webdriver import Browser

TESTS = pathlib.Path(__file__).parent
PAGE = TESTS.parent.parent / "Sources/Examples/Notes/Page"
FILES = {"/text.js": PAGE / "text.js", "/text_histories.js": TESTS / "text_histories.js"}


class Files(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        content = FILES[self.path].read_bytes() if self.path in FILES else b"<!doctype html><title>Histories</title>"
        self.send_response(200)
        self.send_header("Content-Type", "text/javascript" if self.path in FILES else "text/html")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(port, process, seconds=20):
    end = time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < end:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.02)
    raise SystemExit("chromedriver does not start: install chromium-driver")


def main(count):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Files)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    port = free_port()
    driver = subprocess.Popen(["chromedriver", f"--port={port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(port, driver)
        browser = Browser("127.0.0.1", port)
        try:
            browser.post("/timeouts", script=120_000)
            browser.open(f"http://127.0.0.1:{server.server_port}/")
            answer = browser.run_async(
                """
                const done = arguments[1];
                Promise.all([import("/text.js"), import("/text_histories.js")])
                    .then(([code, histories]) => done(histories.runAll(code, arguments[0])))
                    .catch((error) => done({ error: String(error) }));
                """, count)
        finally:
            # A driver that is ended leaves its browser behind.
            browser.close()
    finally:
        driver.terminate()
        driver.wait()
    if "error" in answer:
        print(answer["error"])
        print("0 passed, 1 failed")
        return 1
    print(
        f"{answer['histories']} histories of {answer['edits']} edits: pages and agent agree, none of {answer['letters']} letters is "
        f"lost or doubled; the agent placed {answer['corrections']} edits elsewhere than the page")
    print("1 passed, 0 failed")
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 4000))
