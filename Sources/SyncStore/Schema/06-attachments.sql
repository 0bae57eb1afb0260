-- The attachments that a reader sees, and the blobs they need. All of it follows from the objects, except the time since
-- which a blob is unneeded. The places of the bytes are in another table.

ALTER TABLE space ADD COLUMN attachments INTEGER NOT NULL DEFAULT 0;  -- shown ones

-- Which operation an edit behind a snapshot is, as its kind says on the wire: 3 edits fields, 9 attaches, 10 detaches.
-- `edits` holds fields' edits, or the attached file, or the dot of what is detached.
ALTER TABLE edit ADD COLUMN kind INTEGER NOT NULL DEFAULT 3;

-- A blob reference says how many attachments need a blob. The row stays when none does, until the blob is removed: who
-- attaches the same bytes meanwhile finds them here.
CREATE TABLE blob_reference (
    id          INTEGER PRIMARY KEY,
    space       INTEGER NOT NULL,
    blob        BLOB    NOT NULL,  -- 32 bytes, BlobHash
    attachments INTEGER NOT NULL,
    released    INTEGER,           -- this node's clock when the last of them went, milliseconds since 1970; null while one needs it
    UNIQUE (space, blob)
) STRICT;

CREATE INDEX blob_reference_by_release ON blob_reference (space, released) WHERE released IS NOT NULL;

-- An attachment is the immutable record, under the dot that attached it. Only while it is shown.
CREATE TABLE attachment (
    replica    INTEGER NOT NULL,  -- replica.id of its dot
    counter    INTEGER NOT NULL,
    object     INTEGER NOT NULL,
    reference  INTEGER NOT NULL,  -- blob_reference.id
    stamp      INTEGER NOT NULL,  -- of its change, minus 2^63
    label      TEXT    NOT NULL,  -- 26 characters that follow from the dot; people name it by the first few
    name       TEXT    NOT NULL,
    media_type TEXT    NOT NULL,
    size       INTEGER NOT NULL,  -- bytes
    width      INTEGER,           -- pixels; null for what is no picture
    height     INTEGER,
    PRIMARY KEY (replica, counter)
) STRICT, WITHOUT ROWID;

CREATE INDEX attachment_of_object ON attachment (object, stamp);
CREATE INDEX attachment_of_blob ON attachment (reference, stamp);
CREATE INDEX attachment_by_stamp ON attachment (stamp);
CREATE INDEX attachment_by_label ON attachment (label);
