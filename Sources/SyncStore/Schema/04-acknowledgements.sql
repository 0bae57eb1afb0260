-- What members say is durable with them, and what this node forgot on the strength of it.

-- An acknowledgement is one member's word of what it holds, signed: the newest of each member, ours too. Peers have them
-- as well; here they survive a start, so that what was stable stays stable.
CREATE TABLE acknowledgement (
    space  INTEGER NOT NULL,
    device BLOB    NOT NULL,  -- 32 bytes, the DeviceID
    signed BLOB    NOT NULL,  -- SignedAcknowledgement
    PRIMARY KEY (space, device)
) STRICT, WITHOUT ROWID;

-- The floor is the join of the vectors at which this node collected deletions: whoever holds less than that cannot be
-- told everything that was deleted by what is kept here. 40 bytes and a varint each; null while nothing was collected.
ALTER TABLE space ADD COLUMN floor BLOB;
-- Operations that came for a life that is not here any more: they were dropped.
ALTER TABLE space ADD COLUMN late_operations INTEGER NOT NULL DEFAULT 0;

-- The newest deletion that an object keeps, so that those whose deletions became stable are a range; null without one.
ALTER TABLE object ADD COLUMN deletion_replica INTEGER;  -- replica.id
ALTER TABLE object ADD COLUMN deletion_counter INTEGER;
-- Edits that deletions dropped, where the deletions are collected and nobody has dismissed the edits here; null for none.
ALTER TABLE object ADD COLUMN dropped_edits BLOB;

CREATE INDEX object_by_deletion ON object (deletion_replica, deletion_counter) WHERE deletion_replica IS NOT NULL;
