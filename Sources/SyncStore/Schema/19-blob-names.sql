-- A blob is named by its hash and its size, so records that give one hash two sizes need two blobs, and have a reference
-- each. At most one of these is ever here: the hash covers the size, and a row of `blob` comes after that was proven. What is
-- stored, and begun, stays as it is.

ALTER TABLE blob_reference RENAME TO hash_reference;
ALTER TABLE holder RENAME TO hash_holder;
DROP INDEX blob_reference_by_release;
DROP INDEX missing_blob;
DROP INDEX missing_pinned_blob;

-- A blob reference says how many attachments need a blob, and what to fetch. The row stays when none does, until the blob is
-- removed: bytes that are attached again meanwhile are still here.
CREATE TABLE blob_reference (
    id          INTEGER PRIMARY KEY,
    space       INTEGER NOT NULL,
    blob        BLOB    NOT NULL,  -- 32 bytes, BlobHash
    size        INTEGER NOT NULL,  -- bytes
    attachments INTEGER NOT NULL,
    released    INTEGER,           -- this node's clock when the last of them went, milliseconds since 1970; null while one needs it
    stamp       INTEGER,           -- of the newest record, minus 2^63; null while none names it
    is_missing  INTEGER NOT NULL DEFAULT 0,  -- 1: a record names it, and it is not here as a whole
    is_pinned   INTEGER NOT NULL DEFAULT 0,  -- 1: fetched whatever the policy; of no effect while no record names it
    UNIQUE (space, blob, size)
) STRICT;

-- One for each size that records give, and for that of bytes that are here. Of a hash that no record gives any more, and of
-- which nothing is here, no size is known: undoing its deletion makes a new reference. Its pin and its holders are forgotten.
INSERT INTO blob_reference (space, blob, size, attachments, released, stamp, is_missing, is_pinned)
SELECT reference.space, reference.blob, named.size, named.attachments,
    CASE WHEN named.attachments = 0 THEN coalesce(reference.released, unixepoch() * 1000) END, named.stamp,
    named.attachments > 0 AND NOT EXISTS (
        SELECT 1 FROM blob WHERE blob.hash = reference.blob AND blob.size = named.size AND blob.place <> 2),
    reference.is_pinned
FROM hash_reference AS reference JOIN (
    SELECT reference, size, count(*) AS attachments, max(stamp) AS stamp FROM attachment GROUP BY reference, size
    UNION ALL
    SELECT hash_reference.id, blob.size, 0, NULL FROM hash_reference JOIN blob ON blob.hash = hash_reference.blob
    WHERE NOT EXISTS (
        SELECT 1 FROM attachment WHERE attachment.reference = hash_reference.id AND attachment.size = blob.size)
) AS named ON named.reference = reference.id;

-- A device that held a hash is remembered under each of its names: which size it meant was not kept.
CREATE TABLE holder (
    reference INTEGER NOT NULL,  -- blob_reference.id
    device    BLOB    NOT NULL,  -- 32 bytes, DeviceID
    noted     INTEGER NOT NULL,  -- this node's clock when it said so, milliseconds since 1970
    PRIMARY KEY (reference, device)
) STRICT, WITHOUT ROWID;

INSERT INTO holder (reference, device, noted)
SELECT blob_reference.id, hash_holder.device, hash_holder.noted
FROM hash_holder JOIN hash_reference ON hash_reference.id = hash_holder.reference
    JOIN blob_reference ON blob_reference.space = hash_reference.space AND blob_reference.blob = hash_reference.blob;

UPDATE attachment SET reference = (
    SELECT blob_reference.id FROM hash_reference JOIN blob_reference
        ON blob_reference.space = hash_reference.space AND blob_reference.blob = hash_reference.blob
            AND blob_reference.size = attachment.size
    WHERE hash_reference.id = attachment.reference);
-- Not before: each stored blob's search above for a record of its size is by this index.
DROP INDEX attachment_of_blob;
ALTER TABLE attachment DROP COLUMN size;

DROP TABLE hash_holder;
DROP TABLE hash_reference;

CREATE INDEX attachment_of_blob ON attachment (reference, stamp);
CREATE INDEX blob_reference_by_release ON blob_reference (space, released) WHERE released IS NOT NULL;
-- In the order in which they are fetched. Pinned ones apart: those are fetched beyond the limit. The columns at the end say
-- nothing, but let a query be answered without the table.
CREATE INDEX missing_blob ON blob_reference (space, size, stamp DESC, blob, is_missing) WHERE is_missing = 1;
CREATE INDEX missing_pinned_blob ON blob_reference (space, size, stamp DESC, blob, is_missing, is_pinned)
    WHERE is_missing = 1 AND is_pinned = 1;
