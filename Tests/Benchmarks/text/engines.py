"""Yrs, Loro and Automerge as the race drives them, through their wheels.

Each drives the lowest objects of its binding, so that Python adds one bound call per edit; `calls` makes the same
calls with nothing to do, and what these take is subtracted from a replay. An instance is one replica's document.

Replicas have ids like those the engines draw at random (32, 64 and 128 bits: small ones would flatter formats that repeat
them), in the order of their numbers.
"""
import hashlib


class Yrs:
    title, package, release = "Yrs", "pycrdt", "Yrs 0.28.0"
    formats = ("update",)
    counts_bytes = True  # offsets are those of UTF-8
    # Every edit of an open transaction stays a block of its own until it ends, and each looks through them.
    bulk_limit = 20_000
    tedious = {}

    def __init__(self, number):
        from pycrdt import _pycrdt
        self.document = _pycrdt.Doc(0x4000_0000 + number * 1_000_003, False, None)
        transaction = self.document.create_transaction()
        self.content = self.document.get_or_insert_text(transaction, "t")
        transaction.drop()
        self.emitted = None

    def type(self, patches):
        transaction = self.document.create_transaction()
        insert, remove = self.content.insert, self.content.remove_range
        for position, deleted, inserted in patches:
            if deleted:
                remove(transaction, position, deleted)
            if inserted:
                insert(transaction, position, inserted)
        transaction.drop()

    def type_each(self, patches):
        begin, insert, remove = self.document.create_transaction, self.content.insert, self.content.remove_range
        for position, deleted, inserted in patches:
            transaction = begin()
            if deleted:
                remove(transaction, position, deleted)
            if inserted:
                insert(transaction, position, inserted)
            transaction.drop()

    def calls(self, patches):
        transaction = self.document.create_transaction()
        insert, remove = self.content.insert, self.content.remove_range
        for _, deleted, inserted in patches:
            if deleted:
                remove(transaction, 0, 0)
            if inserted:
                insert(transaction, 0, "")
        transaction.drop()

    def text(self):
        transaction = self.document.create_transaction()
        text = self.content.get_string(transaction)
        transaction.drop()
        return text

    def encoded(self, _):
        return self.since(b"\x00")

    @classmethod
    def opened(cls, number, _, data):
        document = cls(number)
        document.apply(data)
        return document

    def version(self):
        transaction = self.document.create_transaction()
        vector = self.document.get_state(transaction)
        transaction.drop()
        return vector

    def since(self, vector):
        transaction = self.document.create_transaction()
        update = self.document.get_update(transaction, vector)
        transaction.drop()
        return update

    def apply(self, update):
        transaction = self.document.create_transaction()
        self.document.apply_update(transaction, update)
        transaction.drop()

    def written(self, patches):
        """Types one transaction and gives it as it is shipped."""
        if self.emitted is None:
            self.emitted = []
            self.subscription = self.document.observe(lambda event: self.emitted.append(event.update))
        self.emitted.clear()
        self.type(patches)
        return self.emitted[0]


class Loro:
    title, package, release = "Loro", "loro", "Loro 1.17.1"
    formats = ("snapshot", "updates")
    counts_bytes = False
    bulk_limit = None
    tedious = {}

    def __init__(self, number):
        import loro
        self.loro = loro
        self.document = loro.LoroDoc()
        self.document.peer_id = (1 << 62) + number * 0x9E37_79B9
        self.content = self.document.get_text("t")
        self.emitted = None

    def type(self, patches):
        insert, remove = self.content.insert, self.content.delete
        for position, deleted, inserted in patches:
            if deleted:
                remove(position, deleted)
            if inserted:
                insert(position, inserted)
        self.document.commit()

    def type_each(self, patches):
        insert, remove, commit = self.content.insert, self.content.delete, self.document.commit
        for position, deleted, inserted in patches:
            if deleted:
                remove(position, deleted)
            if inserted:
                insert(position, inserted)
            commit()

    def calls(self, patches):
        insert, remove = self.content.insert, self.content.delete
        for _, deleted, inserted in patches:
            if deleted:
                remove(0, 0)
            if inserted:
                insert(0, "")

    def text(self):
        return self.content.to_string()

    def encoded(self, form):
        mode = self.loro.ExportMode
        return bytes(self.document.export(
            mode.Snapshot() if form == "snapshot" else mode.Updates(self.loro.VersionVector())))

    @classmethod
    def opened(cls, number, _, data):
        document = cls(number)
        document.apply(data)
        return document

    def version(self):
        self.document.commit()
        return self.document.oplog_vv

    def since(self, vector):
        return bytes(self.document.export(self.loro.ExportMode.Updates(vector)))

    def apply(self, update):
        self.document.import_(update)

    def written(self, patches):
        if self.emitted is None:
            self.emitted = []
            self.subscription = self.document.subscribe_local_update(self._emit)
        self.emitted.clear()
        self.type(patches)
        return self.emitted[0]

    def _emit(self, update):
        self.emitted.append(bytes(update))
        return True  # stay subscribed


class Automerge:
    title, package, release = "Automerge", "automerge", "Automerge 0.5.7 (of the age of 2.1)"
    formats = ("save",)
    counts_bytes = False
    bulk_limit = None
    tedious = {"rustcode": "a single replay takes this wheel minutes"}  # it begins with a long insertion
    genesis = content = None

    def __init__(self, number, data=None):
        from automerge import core
        self.core = core
        if Automerge.genesis is None:
            # One first change creates the text, so that replicas agree on which object it is.
            first = core.Document(b"\x00" * 16)
            with first.transaction() as transaction:
                Automerge.content = transaction.put_object(core.ROOT, "t", core.ObjType.Text)
            Automerge.genesis = first.save()
        self.document = core.Document.load(data or Automerge.genesis)
        digest = hashlib.md5(str(number).encode()).digest()
        self.document.set_actor(b"\x5e" + number.to_bytes(3, "big") + digest[:12])

    def type(self, patches):
        with self.document.transaction() as transaction:
            self._type(transaction, patches)

    def type_each(self, patches):
        begin = self.document.transaction
        for patch in patches:
            with begin() as transaction:
                self._type(transaction, (patch,))

    def _type(self, transaction, patches):
        content, kind = Automerge.content, self.core.ScalarType.Str
        insert, remove = transaction.insert, transaction.delete
        for position, deleted, inserted in patches:
            for _ in range(deleted):
                remove(content, position)
            for letter in inserted:
                insert(content, position, kind, letter)
                position += 1

    def calls(self, patches):
        with self.document.transaction() as transaction:
            content, call = Automerge.content, transaction.object_type
            for position, deleted, inserted in patches:
                for _ in range(deleted):
                    call(content)
                for _ in inserted:
                    call(content)
                    position += 1

    def text(self):
        return self.document.text(Automerge.content)

    def encoded(self, _):
        return self.document.save()

    @classmethod
    def opened(cls, number, _, data):
        return cls(number, data)

    def version(self):
        return self.document.get_heads()

    def since(self, heads):
        changes = [change.bytes for change in self.document.get_changes(heads)]
        return b"".join([varint(len(changes))] + [varint(len(change)) + change for change in changes])

    def apply(self, update):
        # The wheel applies changes only as part of a message of its sync protocol.
        message = self.core.Message.decode(b"\x42\x00\x00\x00" + update)
        self.document.receive_sync_message(self.core.SyncState(), message)

    def written(self, patches):
        heads = self.document.get_heads()
        self.type(patches)
        return self.since(heads)


def varint(value):
    data = bytearray()
    while value >= 0x80:
        data.append(value & 0x7F | 0x80)
        value >>= 7
    data.append(value)
    return bytes(data)


ENGINES = {"yrs": Yrs, "loro": Loro, "automerge": Automerge}
