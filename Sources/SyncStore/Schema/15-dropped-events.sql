-- The dropped events of a stream (DroppedEvents). The row stays when the operations that dropped them go: dropped events do not
-- come back.
CREATE TABLE dropped_events (
    stream     INTEGER PRIMARY KEY,
    events     BLOB    NOT NULL,
    is_trimmed INTEGER NOT NULL DEFAULT 0  -- 1: nothing of them is in residues any more
) STRICT;
