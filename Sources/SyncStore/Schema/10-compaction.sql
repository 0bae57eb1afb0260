-- The remains of changes that were dropped from the log. A segment below replica.first_held is a residue, whether it came as
-- state or was compacted here: without events it is gone, but for the last one of each replica, which has the head and the
-- signature where held changes join on.

-- The part of the object's history that the log has: 0 all of it; 1 none, and nothing was done to it since, so what it is now is
-- where its history begins; 2 from `beginning` on.
ALTER TABLE object ADD COLUMN history INTEGER NOT NULL DEFAULT 0;

-- A beginning is the state of an object at the beginning of the held part of its history.
CREATE TABLE beginning (
    object          INTEGER PRIMARY KEY,
    cut             BLOB    NOT NULL,  -- 8 bytes, names the vector below which changes were dropped; empty: what came as state
    changed         INTEGER NOT NULL,  -- clock of the author of its newest change then, milliseconds since 1970
    version_replica BLOB,              -- the operation applied last then: 40 bytes, ReplicaID
    version_counter INTEGER,
    state           BLOB    NOT NULL   -- ObjectState
) STRICT;

-- The vector that its author had seen before the first held change, 40 bytes and a varint each; null if all changes are held,
-- or came as state before this column existed.
ALTER TABLE replica ADD COLUMN first_context BLOB;
-- No changes are held before this counter; behind it there may be some before first_held, from before a state came.
ALTER TABLE replica ADD COLUMN compacted INTEGER NOT NULL DEFAULT 0;

ALTER TABLE space ADD COLUMN dropped_changes INTEGER NOT NULL DEFAULT 0;  -- that compaction dropped from the log
