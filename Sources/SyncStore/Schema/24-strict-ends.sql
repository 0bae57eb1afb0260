-- Where everything that a replica says ends to count, by a revocation or a lowered role (CutTable.strictEnd); null where nothing
-- does. The row of a run that lies beyond stays, and its `total` is without it: readers pass over the events from here on, and the
-- end may move.
ALTER TABLE replica ADD COLUMN strict_end INTEGER;
CREATE INDEX replica_with_strict_end ON replica (space) WHERE strict_end IS NOT NULL;
