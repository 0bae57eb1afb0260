-- Large objects are kept as a snapshot and the edits since, so that a keystroke never rewrites a book.

-- Bytes of the object's snapshot and of the edits behind it; 0 where `state` is the whole object. With a snapshot, `state`
-- is empty.
ALTER TABLE object ADD COLUMN snapshot_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE object ADD COLUMN edit_bytes     INTEGER NOT NULL DEFAULT 0;

-- A snapshot is the object as it was when it was last written as a whole. A table of its own: an update of a row writes the
-- whole row.
CREATE TABLE snapshot (
    object INTEGER PRIMARY KEY,
    state  BLOB NOT NULL         -- ObjectState
) STRICT;

-- An edit is one operation on a life, applied behind the snapshot and the edits before it.
CREATE TABLE edit (
    object  INTEGER NOT NULL,
    number  INTEGER NOT NULL,  -- from 0 on
    replica INTEGER NOT NULL,  -- replica.id of its dot
    counter INTEGER NOT NULL,
    stamp   INTEGER NOT NULL,  -- of its change, minus 2^63
    wall    INTEGER NOT NULL,  -- the author's clock, milliseconds since 1970; for display only
    context BLOB,              -- what its author had seen, 40 bytes and a varint each: all of it in the author's first edit
                               -- behind the snapshot, then what moved since the one before; null when nothing did
    life    BLOB    NOT NULL,  -- 40 bytes and a varint, the birth it edits
    edits   BLOB    NOT NULL,  -- one behind the other
    PRIMARY KEY (object, number)
) STRICT, WITHOUT ROWID;
