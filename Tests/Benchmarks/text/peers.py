"""The wheels of the other engines, in a virtual environment of their own."""
import os
import re
import subprocess
import sys


class Peers:
    def __init__(self, folder, requirements):
        self.folder, self.requirements = folder, requirements
        self.python = os.path.join(folder, "bin", "python")

    def install(self, package):
        """Why it cannot be used; nothing when it can."""
        wanted = self._pin(package)
        if not wanted:
            return f"{os.path.basename(self.requirements)} does not name {package}"
        if not os.access(self.python, os.X_OK):
            made = subprocess.run([sys.executable, "-m", "venv", self.folder], capture_output=True, text=True)
            if made.returncode:
                return f"no virtual environment: {_last(made)} (Debian: python3-venv)"
        if f"{package}=={self.version(package)}" == wanted:
            return None
        print(f"  installing {wanted}", file=sys.stderr, flush=True)
        # A wheel or nothing: building Rust here would take longer than the race.
        pip = [self.python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:", wanted]
        done = subprocess.run(pip, capture_output=True, text=True)
        return f"pip could not install {wanted}: {_last(done)}" if done.returncode else None

    def version(self, package):
        ask = f"from importlib.metadata import version; print(version({package!r}))"
        done = subprocess.run([self.python, "-c", ask], capture_output=True, text=True)
        return done.stdout.strip()

    def _pin(self, package):
        with open(self.requirements) as file:
            found = re.search(rf"^{re.escape(package)}==\S+", file.read(), re.M)
        return found[0] if found else None


def _last(done):
    lines = (done.stderr or done.stdout).strip().splitlines()
    return lines[-1] if lines else f"ended with {done.returncode}"
