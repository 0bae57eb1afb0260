"""Editing traces: where they are, and a flat form that the Swift driver reads without a JSON parser.

Little-endian, u32 throughout; a text is its length in bytes and UTF-8.
one person  (.solo):   count, count × patch, end text
several     (.shared): count, agents, count × {agent, parents, parents × index, patches, patches × patch}, end text
patch: position, deleted, inserted text; positions count Unicode scalars
"""
import gzip
import json
import os
import random
import struct
from dataclasses import dataclass

INCLUDED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "traces")
SOURCE = "sequential_traces/ascii_only of github.com/josephg/editing-traces"


class Missing(Exception):
    """A trace that is not here; the message says where it comes from."""


@dataclass
class Solo:
    patches: list
    end: str


@dataclass
class Shared:
    agents: int
    transactions: list  # (agent, parents, patches)
    end: str


def find(name, folder):
    """Ours are in the repository; one without a licence is only where `folder` says."""
    places = [INCLUDED]
    if folder:
        places += [os.path.join(folder, below) for below in
                   ("", "sequential_traces", "sequential_traces/ascii_only", "concurrent_traces")]
    for place in places:
        path = os.path.join(place, name + ".json.gz")
        if os.path.exists(path):
            return path
    raise Missing(f"not here (no licence to copy it; it is in {SOURCE}: give its folder with --traces or LANYARD_TRACES)")


def load(path):
    with gzip.open(path, "rt", encoding="utf-8") as file:
        trace = json.load(file)
    if trace.get("kind") == "concurrent":
        transactions = [(one["agent"], one["parents"], [tuple(patch[:3]) for patch in one["patches"]]) for one in trace["txns"]]
        return Shared(trace["numAgents"], transactions, trace["endContent"])
    patches = [tuple(patch[:3]) for one in trace["txns"] for patch in one["patches"]]
    if trace.get("startContent"):
        patches.insert(0, (0, 0, trace["startContent"]))
    return Solo(patches, trace["endContent"])


def shortened(trace, count):
    """The first edits alone, and the text they end in."""
    patches, text = trace.patches[:count], []
    for position, deleted, inserted in patches:
        text[position:position + deleted] = inserted
    return Solo(patches, "".join(text))


def in_bytes(patches):
    """The same edits for an engine that counts UTF-8 bytes. Made for texts with few scalars beyond ASCII."""
    wide, answer = [], []  # [scalar offset, extra bytes] of what is longer than a byte
    for position, deleted, inserted in patches:
        before = sum(extra for offset, extra in wide if offset < position)
        inside = sum(extra for offset, extra in wide if position <= offset < position + deleted)
        answer.append((position + before, deleted + inside, inserted))
        if wide:
            moved = len(inserted) - deleted
            wide = ([one for one in wide if one[0] < position]
                    + [[offset + moved, extra] for offset, extra in wide if offset >= position + deleted])
        if not inserted.isascii():
            wide += [[position + at, len(letter.encode()) - 1] for at, letter in enumerate(inserted) if not letter.isascii()]
    return answer


def scattered(length, count, seed):
    """What somebody does offline to a text of `length`: words typed and bits deleted, all over the place."""
    dice, patches = random.Random(seed), []
    for _ in range(count):
        if dice.random() < 1 / 3:
            deleted = dice.randint(1, 3)
            patches.append((dice.randrange(length - deleted), deleted, ""))
            length -= deleted
        else:
            typed = "".join(dice.choice("abcdefghij ") for _ in range(dice.randint(1, 6)))
            patches.append((dice.randint(0, length), 0, typed))
            length += len(typed)
    return patches


def prose(length, seed):
    dice = random.Random(seed)
    return "".join(dice.choice("etaoin shrdlu cmfwyp\n") for _ in range(length))


def numbers(*values):
    return struct.pack(f"<{len(values)}I", *values)


def flat_text(text):
    data = text.encode()
    return numbers(len(data)) + data


def flat_patches(patches):
    return numbers(len(patches)) + b"".join(
        numbers(position, deleted) + flat_text(inserted) for position, deleted, inserted in patches)


def save(trace, path):
    with open(path, "wb") as file:
        if isinstance(trace, Solo):
            file.write(flat_patches(trace.patches))
        else:
            file.write(numbers(len(trace.transactions), trace.agents))
            for agent, parents, patches in trace.transactions:
                file.write(numbers(agent, len(parents), *parents) + flat_patches(patches))
        file.write(flat_text(trace.end))
    return path


class Reader:
    """The flat form read back, so that both sides of the race get the same bytes."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        self.at = 0

    def number(self):
        self.at += 4
        return struct.unpack_from("<I", self.data, self.at - 4)[0]

    def text(self):
        length = self.number()
        self.at += length
        return self.data[self.at - length:self.at].decode()

    def patches(self):
        return [(self.number(), self.number(), self.text()) for _ in range(self.number())]

    def solo(self):
        return Solo(self.patches(), self.text())

    def shared(self):
        count, agents = self.number(), self.number()
        transactions = []
        for _ in range(count):
            agent = self.number()
            parents = [self.number() for _ in range(self.number())]
            transactions.append((agent, parents, self.patches()))
        return Shared(agents, transactions, self.text())
