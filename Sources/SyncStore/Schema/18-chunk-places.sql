-- The places of chunks, to find those that another blob has too: a chunk on this disk is copied, and not requested from a peer.

-- One row per chunk of a blob in a file, partial ones included. The prefix finds candidates; the hash in `chunk_hashes`, and
-- the bytes themselves, decide. 25 bytes per chunk of 256 KiB.
CREATE TABLE chunk_place (
    prefix BLOB    NOT NULL,          -- the first 8 bytes of the ChunkHash
    blob   INTEGER NOT NULL,          -- blob.id
    chunk  INTEGER NOT NULL,          -- from 0 on
    PRIMARY KEY (prefix, blob, chunk)
) STRICT, WITHOUT ROWID;

INSERT INTO chunk_place (prefix, blob, chunk)
WITH RECURSIVE place (number) AS (SELECT 0 UNION ALL SELECT number + 1 FROM place WHERE number < 127)
SELECT substr(hashes, number * 32 + 1, 8), blob, page * 128 + number
FROM chunk_hashes, place WHERE number * 32 < length(hashes);
