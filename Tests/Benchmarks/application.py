"""What a small application costs that links the library: a build from nothing, what is built, and the program.

The package of this checkout is asked for with `traits: []`, as the guide says, and beside it as a package with all that
the agent needs. Both build in folders of their own, one after the other, so that nothing is there.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
#: Modules that an application must not have to build: TLS, cryptography and the store.
UNWANTED = re.compile(r"BoringSSL|NIOSSL|Crypto|GRDB|SQLite|CStore|NIO", re.IGNORECASE)
GOAL_SECONDS = 90


def manifest(traits: bool) -> str:
    asked = "" if traits else ", traits: []"
    return f"""// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "hello",
    dependencies: [.package(name: "lanyard", path: {json.dumps(str(ROOT))}{asked})],
    targets: [
        .executableTarget(name: "hello", dependencies: [.product(name: "Lanyard", package: "lanyard")])
    ])
"""


def build(traits: bool) -> dict[str, object]:
    folder = pathlib.Path(tempfile.mkdtemp(prefix="lanyard-hello-"))
    try:
        sources = folder / "Sources" / "hello"
        sources.mkdir(parents=True)
        (folder / "Package.swift").write_text(manifest(traits))
        for file in (ROOT / "Sources/Examples/TenLines").glob("*.swift"):
            shutil.copy(file, sources)
        before = os.times()
        started = time.monotonic()
        built = subprocess.run(["swift", "build"], cwd=folder, capture_output=True, text=True)
        seconds = time.monotonic() - started
        after = os.times()
        if built.returncode:
            sys.exit(f"the application does not build:\n{built.stdout[-3000:]}{built.stderr[-3000:]}")
        compiled = {
            path.parent.name.removesuffix(".build")
            for path in (folder / ".build/debug/").resolve().glob("*.build/*.o")
        }
        checkouts = folder / ".build/checkouts"
        return {
            "seconds": seconds,
            "processor": after.children_user - before.children_user + after.children_system - before.children_system,
            "modules": sorted(compiled),
            "packages": len(list(checkouts.iterdir())) if checkouts.exists() else 0,
            "bytes": (folder / ".build/debug/hello").stat().st_size,
        }
    finally:
        shutil.rmtree(folder)


def main() -> None:
    parser = argparse.ArgumentParser(prog="deploy/bench application", description=__doc__)
    parser.add_argument("--beside", action="store_true", help="also as a package with all that the agent needs")
    options = parser.parse_args()
    rows = [("traits: []", build(traits=False))]
    if options.beside:
        rows.append(("all traits", build(traits=True)))
    for name, row in rows:
        print(
            f"{name:12} {row['seconds']:6.1f} s from nothing, {row['processor']:6.1f} s of the processor, "
            f"{row['packages']} packages fetched, program {row['bytes'] / 1e6:.1f} MB"
        )
        print(f"             built: {', '.join(row['modules'])}")
    unwanted = [module for module in rows[0][1]["modules"] if UNWANTED.search(module)]
    if unwanted:
        sys.exit(f"an application builds {', '.join(unwanted)}")
    print(f"goal: at most {GOAL_SECONDS} s, no TLS, no SQLite")


main()
