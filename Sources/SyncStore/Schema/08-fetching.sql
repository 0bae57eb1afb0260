-- The blobs that should be on this node, and the user's decisions about them. Local to this node: not sent to peers.

-- Blobs of so many bytes at most are fetched unasked: null: all of them; -1: none.
ALTER TABLE space ADD COLUMN fetch_limit INTEGER;
-- The space that the blobs named by its records may take together, in bytes; null: as much as the disk holds.
ALTER TABLE space ADD COLUMN quota INTEGER;

-- A reference says what to fetch, too, so that no search for missing blobs is needed: it is kept with every record that
-- comes or goes, and with every blob.
ALTER TABLE blob_reference ADD COLUMN size INTEGER;    -- bytes, as the oldest record says; null while none names it
ALTER TABLE blob_reference ADD COLUMN stamp INTEGER;   -- of the newest record, minus 2^63; null while none names it
ALTER TABLE blob_reference ADD COLUMN is_missing INTEGER NOT NULL DEFAULT 0;  -- 1: a record names it, and it is not here as a whole
ALTER TABLE blob_reference ADD COLUMN is_pinned INTEGER NOT NULL DEFAULT 0;   -- 1: fetched whatever the policy; of no effect
                                                                             -- while no record names it

-- The oldest and the newest record of a blob, each in one step.
DROP INDEX attachment_of_blob;
CREATE INDEX attachment_of_blob ON attachment (reference, stamp, size);

-- In the order in which they are fetched. Pinned ones apart: those are fetched beyond the limit. The columns at the end say
-- nothing, but let a query be answered without the table.
CREATE INDEX missing_blob ON blob_reference (space, size, stamp DESC, blob, is_missing) WHERE is_missing = 1;
CREATE INDEX missing_pinned_blob ON blob_reference (space, size, stamp DESC, blob, is_missing, is_pinned)
    WHERE is_missing = 1 AND is_pinned = 1;

-- A holder is a device that said that it holds all of a blob: to tell who had it last. It goes with the reference.
CREATE TABLE holder (
    reference INTEGER NOT NULL,  -- blob_reference.id
    device    BLOB    NOT NULL,  -- 32 bytes, DeviceID
    noted     INTEGER NOT NULL,  -- this node's clock when it said so, milliseconds since 1970
    PRIMARY KEY (reference, device)
) STRICT, WITHOUT ROWID;

UPDATE blob_reference SET
    size = (SELECT size FROM attachment WHERE reference = blob_reference.id ORDER BY stamp, size LIMIT 1),
    stamp = (SELECT max(stamp) FROM attachment WHERE reference = blob_reference.id),
    is_missing = attachments > 0
        AND NOT EXISTS (SELECT 1 FROM blob WHERE blob.hash = blob_reference.blob AND blob.place <> 2);
