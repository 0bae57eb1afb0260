-- Consumers in canonical order, and those that began with a snapshot. A key is CanonicalKey, 56 bytes that sort as keys do.

ALTER TABLE consumer ADD COLUMN is_canonical INTEGER NOT NULL DEFAULT 0;  -- 1: reads in canonical order
ALTER TABLE consumer ADD COLUMN key BLOB;            -- canonical: of what arrived up to `position`, all up to here was
                                                     -- acknowledged; null before the first
ALTER TABLE consumer ADD COLUMN delivered_key BLOB;  -- canonical: of what arrived up to `delivered`, handed out up to here

-- The events that the state holds beside those, since it began with a snapshot: a vector, 40 bytes and a varint each; null for
-- nothing.
ALTER TABLE consumer ADD COLUMN snapshot BLOB;

-- A restore that was begun and not finished: the consumer cannot be read until then, and has these values afterwards.
CREATE TABLE consumer_restore (
    space        INTEGER NOT NULL,
    name         TEXT    NOT NULL,
    stream       TEXT    NOT NULL,
    id           TEXT    NOT NULL,  -- names the snapshot
    is_canonical INTEGER NOT NULL,
    key          BLOB,              -- as above
    snapshot     BLOB    NOT NULL,  -- as above
    PRIMARY KEY (space, name, stream)
) STRICT, WITHOUT ROWID;
