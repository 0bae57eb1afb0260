"""The agent to talk to: found as the command finds it (`Sources/LanyardClient/SocketLocation.swift`)."""

from __future__ import annotations

import errno
import os
import pwd
import shlex
import shutil
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from .errors import ErrorCode, LanyardError

SOCKET_NAME = "control.sock"
# The machine's service, as its unit says: deploy/systemd/system/lanyard.service.
SERVICE_SOCKET = f"/run/lanyard/{SOCKET_NAME}"
SERVICE_DATA = "/var/lib/lanyard"
SERVICE_UNITS = tuple(f"{root}/systemd/system/lanyard.service" for root in ("/etc", "/usr/local/lib", "/usr/lib"))
#: The most bytes that the path of a Unix socket may have.
SOCKET_PATH_BYTES = 107


@dataclass(frozen=True)
class SocketLocation:
    """A control socket, and what messages say about the agent behind it."""

    socket_path: str
    #: The directory of the agent's data, as far as it follows from what was given.
    data_directory: str
    #: False where nothing was named and no agent answers anywhere.
    is_found: bool = True
    #: The command that starts the agent.
    start_command: str = ""

    def not_running(self) -> LanyardError:
        """Returns the error when no agent answers."""
        if self.start_command.startswith("systemctl start"):
            node = f"this device's service ({self.data_directory})"
        elif self.socket_path == f"{self.data_directory}/{SOCKET_NAME}":
            node = self.data_directory
        else:
            node = self.socket_path
        hint = f"Start it with: {self.start_command}"
        return LanyardError(ErrorCode.AGENT_NOT_RUNNING, f"No agent is running for {node}.", hint)

    def check_length(self) -> None:
        """Raises `socket_path_too_long` for a path that no Unix socket can have."""
        if len(os.fsencode(self.socket_path)) > SOCKET_PATH_BYTES:
            raise LanyardError(
                ErrorCode.SOCKET_PATH_TOO_LONG,
                f"The path of the control socket is longer than {SOCKET_PATH_BYTES} bytes: {self.socket_path}",
                "Use a shorter path for the agent and for `socket`, or a relative one.",
            )


@dataclass(frozen=True)
class Machine:
    """The questions that the search asks the machine."""

    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)
    is_root: bool = field(default_factory=lambda: os.geteuid() == 0)
    #: Returns true if an agent answers on a socket.
    answers: Callable[[str], bool] = field(default_factory=lambda: socket_answers)
    exists: Callable[[str], bool] = field(default_factory=lambda: os.path.exists)

    def variable(self, name: str) -> str | None:
        """Returns a variable that is set and not empty."""
        return self.environment.get(name) or None

    def user_data_directory(self) -> str:
        """Returns `$XDG_DATA_HOME/lanyard` or `~/.local/share/lanyard`."""
        if base := self.variable("XDG_DATA_HOME"):
            return f"{base}/lanyard"
        return f"{self.variable('HOME') or _home_directory()}/.local/share/lanyard"


def _home_directory() -> str:
    try:
        return pwd.getpwuid(os.geteuid()).pw_dir or "/"
    except KeyError:
        return "/"


def socket_answers(path: str) -> bool:
    """Connects and hangs up.

    Returns False only if the socket is missing or has no listener: other errors are worth showing.
    """
    if len(os.fsencode(path)) > SOCKET_PATH_BYTES:
        return False
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.setblocking(False)
        return probe.connect_ex(path) not in (errno.ENOENT, errno.ENOTDIR, errno.ECONNREFUSED)


def find(
    socket_path: str | os.PathLike[str] | None = None,
    data_directory: str | os.PathLike[str] | None = None,
    machine: Machine | None = None,
) -> SocketLocation:
    """Returns the agent that is meant.

    Looks at `socket_path`, LANYARD_SOCKET, `data_directory`, LANYARD_DATA_DIR; where none is given, for an agent that
    answers in `$XDG_RUNTIME_DIR/lanyard`, the user's data directory or `/run/lanyard`. Where no agent answers, the
    machine's service is meant if it is installed, unless the user has a device of their own and is not root. Else the
    user's data directory is meant.
    """
    machine = machine or Machine()
    user_directory = machine.user_data_directory()
    given_socket = os.fspath(socket_path) if socket_path is not None else machine.variable("LANYARD_SOCKET")
    directory = os.fspath(data_directory) if data_directory is not None else machine.variable("LANYARD_DATA_DIR")
    if given_socket is not None:
        if given_socket == SERVICE_SOCKET and directory in (None, SERVICE_DATA):
            return _service(is_found=True)
        beside = os.path.dirname(given_socket) if os.path.basename(given_socket) == SOCKET_NAME else ""
        return _by_command(given_socket, directory or beside or user_directory)
    if directory is not None:
        own = f"{directory}/{SOCKET_NAME}"
        if directory == SERVICE_DATA and not machine.answers(own):
            return _service(is_found=True)
        return _by_command(own, directory)
    return _search(machine, user_directory)


def _search(machine: Machine, user_directory: str) -> SocketLocation:
    share = user_directory.removesuffix("/lanyard")
    start = "systemctl --user start lanyard" if machine.exists(f"{share}/systemd/user/lanyard.service") else ""
    runtime = machine.variable("XDG_RUNTIME_DIR")
    own = f"{user_directory}/{SOCKET_NAME}"
    for path in ([f"{runtime}/lanyard/{SOCKET_NAME}"] if runtime else []) + [own]:
        if machine.answers(path):
            return _by_command(path, user_directory, start=start, is_default=path == own)
    if machine.answers(SERVICE_SOCKET):
        return _service(is_found=True)
    is_installed = any(machine.exists(path) for path in (SERVICE_DATA, *SERVICE_UNITS))
    if is_installed and (machine.is_root or not machine.exists(f"{user_directory}/identity.pem")):
        return _service(is_found=False)
    return _by_command(own, user_directory, start=start, is_default=True, is_found=False)


def _service(*, is_found: bool) -> SocketLocation:
    return SocketLocation(SERVICE_SOCKET, SERVICE_DATA, is_found, "systemctl start lanyard")


def _by_command(
    path: str, directory: str, *, start: str = "", is_default: bool = False, is_found: bool = True
) -> SocketLocation:
    arguments = [] if is_default else ["--data-dir", directory]
    if not is_default and path != f"{directory}/{SOCKET_NAME}":
        arguments += ["--socket", path]
    program = "lanyardd" if shutil.which("lanyardd") else "path/to/lanyardd"
    return SocketLocation(path, directory, is_found, start or shlex.join([program, *arguments]))


def connect_error(location: SocketLocation, error: OSError) -> LanyardError:
    """Returns the error for a failed connect.

    Only a missing socket, or one without a listener, means that no agent runs.
    """
    path, code = location.socket_path, error.errno
    if code in (errno.ENOENT, errno.ENOTDIR, errno.ECONNREFUSED):
        return location.not_running()
    if code in (errno.EACCES, errno.EPERM):
        return LanyardError(
            ErrorCode.FORBIDDEN,
            f"This user may not open the control socket {path}.",
            "Run the program as the agent's user or root, or join the socket's group.",
        )
    if code in (errno.EMFILE, errno.ENFILE):
        return LanyardError(
            ErrorCode.UNREACHABLE,
            "This program may not open more files, so it cannot ask the agent.",
            "Close some, or raise the limit: ulimit -n shows it.",
        )
    if code == errno.EAGAIN:
        return LanyardError(
            ErrorCode.UNREACHABLE,
            f"The agent takes no more connections on {path} now.",
            "End some of the programs and commands that watch or follow, and try again.",
        )
    return LanyardError(
        ErrorCode.UNREACHABLE,
        f"The control socket {path} cannot be opened: {error.strerror or 'unknown'}.",
        "lanyard doctor looks at the socket and its directory.",
    )
