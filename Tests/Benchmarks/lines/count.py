#!/usr/bin/env python3
"""Lines of code of to-do lists, counted the same way: lines that are not blank and not only a comment.

  count.py --clones DIR [-f LIST]

LIST (todo.txt) holds one SPEC a line; blank lines and lines that start with # are skipped. A SPEC is a FILE of
this repository or ":PATH" in the clone that a line "> OWNER/NAME@REV" above it names, in DIR/OWNER/NAME. It may
end in ::RANGES: the lines that are data and sync code ("1-9,12", or "all"); without them none are. "= NAME"
starts a project; each gets a subtotal. A project whose clone is not there is printed as skipped.

Comments: // and /* */ (nested in Swift, Kotlin, Rust), {/* */} in JSX, # in
Python, shell, YAML, TOML and Ruby files only (a Swift #if is code), <!-- --> in
HTML, XML and Markdown. A comment mark in a string is not a comment; lines of a
multi-line string are code unless blank.
"""
import argparse
import os
import re
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "../../..")

HASH = {"py", "sh", "bash", "rb", "yml", "yaml", "toml"}
MARKUP = {"html", "htm", "xml", "svg", "xaml", "vue", "svelte", "md"}
NESTED = {"swift", "kt", "kts", "rs"}
TRIPLE = {"swift", "kt", "kts", "py", "java", "dart", "cs"}
BACKTICK = {"js", "jsx", "ts", "tsx", "mjs", "cjs", "go", "vue", "svelte"}
QUOTE = {"js", "jsx", "ts", "tsx", "mjs", "cjs", "py", "dart", "sh", "rb"}


def code_lines(text, ext):
    """The 1-based numbers of the lines that hold code."""
    if ext in ("jsx", "tsx"):
        text = re.sub(r"\{(\s*/\*)", r" \1", text)
        text = re.sub(r"(\*/\s*)\}", r"\1 ", text)
    found, line, i, n = set(), 1, 0, len(text)
    depth, markup, string = 0, False, None  # string: its closing mark
    while i < n:
        c = text[i]
        if c == "\n":
            line += 1
            i += 1
            if string and len(string.strip("#")) == 1 and string != "`":
                string = None  # a one-line string ends with its line
            continue
        if depth:
            if text.startswith("*/", i):
                depth -= 1
                i += 2
            elif ext in NESTED and text.startswith("/*", i):
                depth += 1
                i += 2
            else:
                i += 1
            continue
        if markup:
            if text.startswith("-->", i):
                markup = False
                i += 3
            else:
                i += 1
            continue
        if string:
            if not c.isspace():
                found.add(line)
            if c == "\\" and "#" not in string and i + 1 < n and text[i + 1] != "\n":
                i += 2
            elif text.startswith(string, i):
                i += len(string)
                string = None
            else:
                i += 1
            continue
        if c.isspace() or c == "\ufeff":
            i += 1
            continue
        if ext in HASH:
            if c == "#" and (i == 0 or text[i - 1].isspace()):
                i = text.find("\n", i) if "\n" in text[i:] else n
                continue
        elif ext in MARKUP and text.startswith("<!--", i):
            markup = True
            i += 4
            continue
        elif ext not in MARKUP or ext in ("vue", "svelte"):
            if text.startswith("//", i):
                i = text.find("\n", i) if "\n" in text[i:] else n
                continue
            if text.startswith("/*", i):
                depth = 1
                i += 2
                continue
        found.add(line)
        if ext in MARKUP and ext not in ("vue", "svelte"):
            i += 1
            continue
        if ext == "swift" and c == "#":
            raw = re.match(r'(#+)("""|")', text[i:i + 12])
            if raw:
                string = raw.group(2) + raw.group(1)
                i += len(raw.group(0))
                continue
        if ext in TRIPLE and text.startswith('"""', i):
            string = '"""'
            i += 3
        elif c == '"' or (c == "'" and ext in QUOTE) or (c == "`" and ext in BACKTICK):
            string = c
            i += 1
        else:
            i += 1
    return found


def ranges(text, last):
    if text == "all":
        return set(range(1, last + 1))
    out = set()
    for part in filter(None, text.split(",")):
        a, _, b = part.partition("-")
        out |= set(range(int(a), int(b or a) + 1))
    if out and max(out) > last:
        raise SystemExit(f"count.py: range {text} is past the last line {last}")
    return out


def read(spec, clones):
    if spec.startswith("git:"):
        match = re.fullmatch(r"git:(.+?)@([0-9a-f]+):(.+)", spec)
        data = subprocess.run(
            ["git", "-C", os.path.join(clones, match[1]), "show", f"{match[2]}:{match[3]}"],
            check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        return match[3], data.decode("utf-8")
    with open(os.path.join(ROOT, spec), encoding="utf-8") as file:
        return spec, file.read()


def projects(path):
    """The projects of a list: name, clone or None, specs."""
    found, base = [], ""
    for row in open(path, encoding="utf-8"):
        row = row.strip()
        if row.startswith("> "):
            base = row[2:].strip()
        elif row.startswith("= "):
            found.append((row[2:], []))
        elif row and not row.startswith("#"):
            found[-1][1].append((f"git:{base}{row}" if row.startswith(":") else row))
    return found


def main():
    parser = argparse.ArgumentParser(prog="Tests/Benchmarks/lines/count.py")
    parser.add_argument("--clones", required=True, metavar="DIR", help="where OWNER/NAME were cloned to")
    parser.add_argument("-f", metavar="LIST", default=os.path.join(HERE, "todo.txt"))
    options = parser.parse_args()
    for name, specs in projects(options.f):
        rows = []
        for spec in specs:
            where, _, data = spec.partition("::")
            try:
                file, text = read(where, options.clones)
            except (OSError, subprocess.CalledProcessError):
                print(f"\n{name}: skipped, since {where} is not there")
                break
            found = code_lines(text, os.path.splitext(file)[1].lstrip(".").lower())
            count = len(text.splitlines())
            rows.append((file, len(found & ranges(data, count)), len(found), data or "-"))
        else:
            print(f"\n{name}\n{'data':>7}{'all':>7}  file  (lines counted as data and sync)")
            for file, data, all_lines, counted in rows:
                print(f"{data:7}{all_lines:7}  {file}  ({counted})")
            print(f"{sum(row[1] for row in rows):7}{sum(row[2] for row in rows):7}  in all")


main()
