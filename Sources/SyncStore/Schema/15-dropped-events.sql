-- Which events of a stream are dropped (DroppedEvents). It stays when the operations go that said so: what was dropped does not
-- come back.
CREATE TABLE dropped_events (
    stream     INTEGER PRIMARY KEY,
    events     BLOB    NOT NULL,
    is_trimmed INTEGER NOT NULL DEFAULT 0  -- 1: nothing of them is in residues any more
) STRICT;
