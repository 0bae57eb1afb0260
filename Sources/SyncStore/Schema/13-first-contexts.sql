-- The vector that the replica's first change named (40 bytes and a varint each); with it replicas of the same device begin
-- (FirstContexts). It stays when that change goes. `named` is null where nothing was named since. Of replicas that were held
-- before this step it is null: a space of then is not carried over (ARCHITECTURE.md).
ALTER TABLE replica ADD COLUMN first_named BLOB;
-- 1: it came with a state, and is not signed.
ALTER TABLE replica ADD COLUMN first_is_hearsay INTEGER NOT NULL DEFAULT 0;
