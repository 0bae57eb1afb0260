"""A small WebDriver client: what the stories need of https://www.w3.org/TR/webdriver2/, over one connection to chromedriver."""

import base64
import http.client
import json
import time

ENTER, BACKSPACE, SHIFT, CONTROL = "\ue006", "\ue003", "\ue008", "\ue009"
TAB, END, HOME, LEFT, DOWN = "\ue004", "\ue010", "\ue011", "\ue012", "\ue015"

# The key under which WebDriver hands out elements (section 12.1).
_ELEMENT = "element-6066-11e4-a52e-4f735466cecf"

ARGUMENTS = [
    "--headless=new",
    # Root has no sandbox, and a small /dev/shm would end the page.
    "--no-sandbox",
    "--disable-dev-shm-usage",
    # Pages that are not in front must show edits as fast as others.
    "--disable-background-timer-throttling",
    "--disable-renderer-backgrounding",
    "--disable-backgrounding-occluded-windows",
    # Nothing but the page: no updates, no services, no first steps.
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--no-default-browser-check",
]


class WebDriverError(Exception):
    """A refusal by chromedriver, with its code."""

    def __init__(self, code, message):
        super().__init__(f"{code}: {message.splitlines()[0] if message else ''}")
        self.code = code


class Browser:
    """One chromium with one window."""

    def __init__(self, host, port, arguments=(), language="en-GB", connect=None):
        """`connect` opens connections in place of `socket.create_connection`."""
        self._connection = http.client.HTTPConnection(host, port, timeout=180)
        if connect:
            self._connection._create_connection = connect
        options = {"args": ARGUMENTS + [f"--lang={language}"] + list(arguments), "binary": "/usr/bin/chromium"}
        capabilities = {"browserName": "chrome", "goog:chromeOptions": options, "unhandledPromptBehavior": "accept"}
        answer = self._call("POST", "/session", {"capabilities": {"alwaysMatch": capabilities}})
        self._path = f"/session/{answer['sessionId']}"

    def _call(self, method, path, body=None):
        text = None if body is None else json.dumps(body).encode()
        self._connection.request(method, path, text, {"Content-Type": "application/json"})
        value = json.loads(self._connection.getresponse().read())["value"]
        if isinstance(value, dict) and "error" in value:
            raise WebDriverError(value["error"], value.get("message", ""))
        return value

    def post(self, path, **body):
        return self._call("POST", self._path + path, body)

    # Pages

    def open(self, url):
        self.post("/url", url=url)

    def close(self):
        """Ends the browser, and with it its page."""
        self._call("DELETE", self._path)
        self._connection.close()

    def resize(self, width, height):
        """Sets the size of the page itself."""
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def command(self, name, **parameters):
        """A command of Chromium's own protocol."""
        return self.post("/goog/cdp/execute", cmd=name, params=parameters)

    def picture(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self._call("GET", self._path + "/screenshot")))

    # Scripts and elements

    def run(self, script, *arguments):
        """Returns what a function with this body returns, in the page."""
        return self.post("/execute/sync", script=script, args=list(arguments))

    def run_async(self, script, *arguments):
        """The same for a body that calls its last argument when it is done."""
        return self.post("/execute/async", script=script, args=list(arguments))

    def element(self, selector):
        return self.post("/element", using="css selector", value=selector)[_ELEMENT]

    def click(self, selector):
        self.post(f"/element/{self.element(selector)}/click")

    def type(self, selector, text):
        """Types into an element, letter by letter."""
        self.post(f"/element/{self.element(selector)}/value", text=text)

    def keys(self, text, pause=0):
        """Presses keys, one after another, in whatever has the focus; `pause` in milliseconds lies between them."""
        actions = []
        for letter in text:
            actions += [{"type": "keyDown", "value": letter}, {"type": "keyUp", "value": letter}]
            if pause:
                actions.append({"type": "pause", "duration": pause})
        self.post("/actions", actions=[{"type": "key", "id": "keyboard", "actions": actions}])

    def press(self, keys):
        """Presses keys together."""
        actions = [{"type": "keyDown", "value": key} for key in keys]
        actions += [{"type": "keyUp", "value": key} for key in reversed(keys)]
        self.post("/actions", actions=[{"type": "key", "id": "keyboard", "actions": actions}])

    def until(self, sentence, script, *arguments, within=10.0):
        """Waits until a function with this body returns something true, and returns it and the seconds that it took."""
        begin = time.monotonic()
        while True:
            value = self.run(script, *arguments)
            taken = time.monotonic() - begin
            if value:
                return value, taken
            if taken > within:
                raise AssertionError(f"not within {within:g} s: {sentence}")
            time.sleep(0.01)
