-- Objects, their deletions, and the indexes over them. All of it follows from the log, except local fields and
-- dismissals: it is derived change by change in the order of arrival, and can be derived anew.

-- The state of the derived tables. `derived` is the version of the rules they were derived with; a program that
-- understands more operations derives them again. Null: never.
ALTER TABLE space ADD COLUMN derived INTEGER;
ALTER TABLE space ADD COLUMN objects INTEGER NOT NULL DEFAULT 0;          -- live ones
ALTER TABLE space ADD COLUMN deleted_objects INTEGER NOT NULL DEFAULT 0;  -- ids whose deletion is kept and holds
ALTER TABLE space ADD COLUMN object_position INTEGER NOT NULL DEFAULT 0;  -- of the newest change to an object

-- The dot of the operation that stated the fact; null in rows of the first release until they are derived again.
ALTER TABLE addition ADD COLUMN replica BLOB;
ALTER TABLE addition ADD COLUMN counter INTEGER;

-- A collection has a number from its first object or its schema on.
CREATE TABLE collection (
    id     INTEGER PRIMARY KEY,
    space  INTEGER NOT NULL,
    name   TEXT    NOT NULL,
    schema BLOB,              -- CollectionSchema; null while none has been set
    UNIQUE (space, name)
) STRICT;

-- An object is everything known of one id: its lives with their fields, its deletions. `position` grows with every change
-- to any object, so that the objects changed since a position are a range; a later change moves the row.
CREATE TABLE object (
    id              INTEGER PRIMARY KEY,
    collection      INTEGER NOT NULL,
    key             TEXT    NOT NULL,  -- the object's id, 1 to 256 bytes
    standing        INTEGER NOT NULL,  -- 0 nothing to see, 1 live, 2 deleted, 3 undecided
    has_conflict    INTEGER NOT NULL,  -- 1 when a person should look at it
    dismissed       INTEGER NOT NULL,  -- edits dropped by a deletion that a user has seen listed and dismissed, here
    position        INTEGER NOT NULL,
    changed         INTEGER NOT NULL,  -- clock of the author of its newest change, milliseconds since 1970
    version_replica BLOB,              -- the operation last applied: 40 bytes, ReplicaID
    version_counter INTEGER,
    digest          BLOB,              -- its term in the state digest, 32 bytes; null for none
    state           BLOB    NOT NULL,  -- ObjectState
    local           BLOB,              -- fields that never leave this node: a JSON object in canonical bytes; null for none
    UNIQUE (collection, key)
) STRICT;

CREATE UNIQUE INDEX object_by_change ON object (position);
CREATE INDEX object_deleted ON object (collection, key) WHERE standing = 2;
CREATE INDEX object_with_conflict ON object (collection, key) WHERE has_conflict = 1;

-- A touch says that a segment has operations on an object: its history is read from there.
CREATE TABLE touch (
    object  INTEGER NOT NULL,
    segment INTEGER NOT NULL,
    PRIMARY KEY (object, segment)
) STRICT, WITHOUT ROWID;

-- A field value is what an object shows in a field that the collection's schema calls indexed. With the object's id in
-- the key, those of one value come in the order in which they are listed.
CREATE TABLE field_value (
    collection INTEGER NOT NULL,
    field      TEXT    NOT NULL,
    value      BLOB    NOT NULL,  -- canonical bytes of the JSON value; empty for none
    key        TEXT    NOT NULL,  -- the object's id
    PRIMARY KEY (collection, field, value, key)
) STRICT, WITHOUT ROWID;
