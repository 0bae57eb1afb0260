-- Forks, two histories signed with one key, and the changes of the history that gave way (TakingBack).

-- 1: of this replica, one of our own, we hold the history that stays: others take back theirs.
ALTER TABLE replica ADD COLUMN is_settled INTEGER NOT NULL DEFAULT 0;
-- The newest arrival number when something was taken back: numbers are not given out twice, so the log may end below it. Null for
-- never.
ALTER TABLE space ADD COLUMN taken_back_position INTEGER;

-- The work that this device took back, in the order of writing, until it is done again.
CREATE TABLE taken_back (
    id      INTEGER PRIMARY KEY,
    space   INTEGER NOT NULL,
    replica BLOB    NOT NULL,  -- 40 bytes, whose history it was
    start   INTEGER NOT NULL,  -- first counter that is left to do
    end     INTEGER NOT NULL,  -- next counter after it
    known   BLOB    NOT NULL,  -- a vector: what its author had seen
    bytes   BLOB    NOT NULL   -- changes, from `start` on
) STRICT;

-- The ends of our own changes that were taken back to be done again: a device that holds one of these may take it back, too.
CREATE TABLE gave_way (
    space   INTEGER NOT NULL,
    replica BLOB    NOT NULL,  -- 40 bytes
    end     INTEGER NOT NULL,  -- the counter behind the change
    head    BLOB    NOT NULL,  -- 32 bytes
    PRIMARY KEY (space, replica, end, head)
) STRICT, WITHOUT ROWID;

-- The rest of a history that stays, and changes of third devices that had seen that rest or the changes that gave way. A segment is
-- applied as soon as all that its author had seen is held.
CREATE TABLE held_back (
    id        INTEGER PRIMARY KEY,
    space     INTEGER NOT NULL,
    replica   BLOB    NOT NULL,  -- 40 bytes
    start     INTEGER NOT NULL,
    end       INTEGER NOT NULL,
    is_rest   INTEGER NOT NULL,  -- 1: of the history that stays
    signature BLOB    NOT NULL,
    bytes     BLOB    NOT NULL
) STRICT;

-- The new places of work that was done again; forgotten once all of it is done.
CREATE TABLE taken_back_place (
    space       INTEGER NOT NULL,
    replica     BLOB    NOT NULL,  -- 40 bytes, whose history it was
    start       INTEGER NOT NULL,
    count       INTEGER NOT NULL,
    new_replica BLOB    NOT NULL,  -- 40 bytes
    new_start   INTEGER NOT NULL
) STRICT;
