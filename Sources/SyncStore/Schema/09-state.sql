-- The tables with which a node sends its state to a node that lacks more than changes can bring, and receives such a state.
-- A stretch of a replica's history that came as state is a segment with change_count 0, a residue: its bytes are only the
-- changes that have events, with all else in them void, and cannot be served as changes. The last one ends at the tip and has
-- its head and signature; those before it have an empty head.

-- Changes of the replica are held from this counter on; those before it came as state, or went.
ALTER TABLE replica ADD COLUMN first_held INTEGER NOT NULL DEFAULT 0;

-- What has touched the object, whether or not it still shows: varint replica.id, varint next counter each, ascending. Null
-- until it was written once by a program that knows of it.
ALTER TABLE object ADD COLUMN touched BLOB;
-- The greatest stamp of those operations, minus 2^63.
ALTER TABLE object ADD COLUMN touched_stamp INTEGER;

CREATE INDEX object_by_touch ON object (touched_stamp);

-- A birth is one of a life that an object keeps: what is not here, and is covered by the vector, has ended.
CREATE TABLE birth (
    replica INTEGER NOT NULL,  -- replica.id of its dot
    counter INTEGER NOT NULL,
    object  INTEGER NOT NULL,
    PRIMARY KEY (replica, counter)
) STRICT, WITHOUT ROWID;

-- A staging is a state delta that is being received. Readers see those of its objects that are
-- not stored otherwise. They must not be written to before the whole state is here and joined.
CREATE TABLE staging (
    space  INTEGER PRIMARY KEY,
    since  BLOB    NOT NULL,  -- the vector it was asked for: 40 bytes and a varint each
    stream INTEGER NOT NULL,  -- how often it was begun; a stream that ends early is begun anew
    -- The last rows that came as they were sent, by a check behind them: what is behind those goes when a stream ends early.
    checked_object  INTEGER NOT NULL DEFAULT 0,
    checked_residue INTEGER NOT NULL DEFAULT 0
) STRICT;

-- A staged object is what a sender said of an object. It is used only if the newest stream has announced it.
CREATE TABLE staged_object (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    collection TEXT    NOT NULL,
    key        TEXT    NOT NULL,
    digest     BLOB    NOT NULL,  -- 16 bytes, of what has touched it at the sender
    stream     INTEGER NOT NULL,  -- that announced it last
    state      BLOB,              -- StateObject; null until it came
    UNIQUE (collection, key)
) STRICT;

-- A staged residue is some of a replica's events.
CREATE TABLE staged_residue (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    replica BLOB    NOT NULL,  -- 40 bytes, the ReplicaID
    start   INTEGER NOT NULL,  -- first counter
    end     INTEGER NOT NULL,  -- next counter behind it
    context BLOB    NOT NULL,  -- what must come before it: 40 bytes and a varint each
    bytes   BLOB    NOT NULL,  -- EventResidue
    UNIQUE (replica, start)
) STRICT;

-- A staged birth is a run of births of lives that the sender keeps; of the newest stream.
CREATE TABLE staged_birth (
    replica BLOB    NOT NULL,  -- 40 bytes, the ReplicaID
    start   INTEGER NOT NULL,  -- first counter
    end     INTEGER NOT NULL,  -- next counter behind it
    PRIMARY KEY (replica, start)
) STRICT, WITHOUT ROWID;

-- A staged item is any other piece of the newest stream.
CREATE TABLE staged_item (
    id   INTEGER PRIMARY KEY,
    item BLOB NOT NULL  -- StateItem
) STRICT;
