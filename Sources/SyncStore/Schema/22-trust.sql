-- The log of trust (TrustRecord): which member admitted, retired or revoked which device, and which devices a person blocked on this
-- node. A row stays when the log is compacted and when tables are derived from the log again. Kinds of facts can be added without a
-- new step: a kind has its own bytes in `detail`.
CREATE TABLE trust (
    id      INTEGER PRIMARY KEY,  -- in the order in which this node learned of the facts
    space   INTEGER NOT NULL,
    kind    INTEGER NOT NULL,     -- TrustFact.Kind
    author  BLOB    NOT NULL,     -- 32 bytes, the DeviceID
    device  BLOB    NOT NULL,     -- 32 bytes, the device that the fact is about
    replica BLOB,                 -- 40 bytes, with `counter` the dot of the operation; null for a decision of this node
    counter INTEGER,
    wall    INTEGER,              -- the author's clock, milliseconds since 1970; null if unknown
    known   INTEGER,              -- this node's clock at the commit, milliseconds since 1970; null if from before this table
    is_gone INTEGER NOT NULL DEFAULT 0,  -- 1: the operation was taken back with its history (TakingBack)
    detail  BLOB    NOT NULL
) STRICT;

-- An operation has one row. Decisions of this node have no dot, and each has a row of its own.
CREATE UNIQUE INDEX trust_by_dot ON trust (replica, counter, kind, device, space);
CREATE INDEX trust_by_author ON trust (author);
CREATE INDEX trust_by_device ON trust (device, author);

ALTER TABLE space ADD COLUMN keeps_trust INTEGER NOT NULL DEFAULT 1;  -- 0: facts that an older program stored have no rows yet
UPDATE space SET keeps_trust = 0;
