-- The retired and revoked devices, the part of their histories that counts, and the witnesses for more of it (CutTable); null
-- while there is none.
-- It follows from the log, and stays when changes of the log go.
ALTER TABLE space ADD COLUMN cuts BLOB;
-- 1: objects could not be done again when a cut moved, and wait for a member that could (LogState.isIncomplete).
ALTER TABLE space ADD COLUMN incomplete INTEGER NOT NULL DEFAULT 0;
