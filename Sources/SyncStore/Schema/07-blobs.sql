-- Blobs: immutable bytes, each kept once under its hash, however many records name it. The records that name one are not kept here.

-- A row says what is here and where; a blob of which nothing is here has none. The row comes after the bytes and goes before
-- them: what `place` says was durable before it was said.
CREATE TABLE blob (
    id      INTEGER PRIMARY KEY,
    hash    BLOB    NOT NULL UNIQUE,  -- BlobHash, 32 bytes
    size    INTEGER NOT NULL,         -- bytes
    place   INTEGER NOT NULL,         -- 0 in `small_blob` · 1 whole, in a file · 2 some of it, in a file
    present BLOB,                     -- of place 2: the chunks known to be durable (ChunkSet); for display: before any is
                                      -- used, the file is read
    touched INTEGER NOT NULL          -- when it was last added or begun, milliseconds since 1970: grace begins no earlier
) STRICT;

CREATE INDEX partial_blob ON blob (id) WHERE place = 2;

-- The bytes of small blobs: thousands of them cost one transaction. A table of its own, so that looking through `blob` does
-- not read them.
CREATE TABLE small_blob (
    blob  INTEGER PRIMARY KEY,        -- blob.id
    bytes BLOB    NOT NULL
) STRICT;

-- The hashes of the chunks of a blob in a file: what a chunk is checked against, after it came and before it goes. In pages,
-- so that one chunk of 16 GiB costs reading 4 KiB and not 2 MiB.
CREATE TABLE chunk_hashes (
    blob   INTEGER NOT NULL,          -- blob.id
    page   INTEGER NOT NULL,          -- from 0 on
    hashes BLOB    NOT NULL,          -- ChunkHash, 32 bytes each: 128 of them but for the last page
    PRIMARY KEY (blob, page)
) STRICT, WITHOUT ROWID;
