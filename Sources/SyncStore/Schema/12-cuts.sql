-- Which devices were let go, what of their histories counts, and who spoke for more of it (CutTable); null while nobody was.
-- It follows from the log, and stays when changes of the log go.
ALTER TABLE space ADD COLUMN cuts BLOB;
-- 1: objects could not be done again when a cut moved, and wait for a member that could (LogState.isIncomplete).
ALTER TABLE space ADD COLUMN incomplete INTEGER NOT NULL DEFAULT 0;
