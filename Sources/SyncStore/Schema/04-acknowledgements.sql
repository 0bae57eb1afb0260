-- The members' statements of what is durable with them, and the deletions that this node forgot because of them.

-- An acknowledgement is one member's signed statement of what it holds: the newest of each member, ours too. Peers have
-- them as well; here they survive a start, so that stable changes stay stable.
CREATE TABLE acknowledgement (
    space  INTEGER NOT NULL,
    device BLOB    NOT NULL,  -- 32 bytes, the DeviceID
    signed BLOB    NOT NULL,  -- SignedAcknowledgement
    PRIMARY KEY (space, device)
) STRICT, WITHOUT ROWID;

-- The floor is the join of the vectors at which this node collected deletions: a replica that holds less
-- cannot learn every deletion from this node. 40 bytes and a varint each; null while nothing was collected.
ALTER TABLE space ADD COLUMN floor BLOB;
-- Operations that came for a life that is not here any more: they were dropped.
ALTER TABLE space ADD COLUMN late_operations INTEGER NOT NULL DEFAULT 0;

-- The newest deletion that an object keeps, so that those whose deletions became stable are a range; null without one.
ALTER TABLE object ADD COLUMN deletion_replica INTEGER;  -- replica.id
ALTER TABLE object ADD COLUMN deletion_counter INTEGER;
-- Edits that deletions dropped, where the deletions are collected and the edits were not dismissed here; null for none.
ALTER TABLE object ADD COLUMN dropped_edits BLOB;

CREATE INDEX object_by_deletion ON object (deletion_replica, deletion_counter) WHERE deletion_replica IS NOT NULL;
