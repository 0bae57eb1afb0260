-- An object that shows nothing in an indexed field has an entry in the index, too, with the empty value: before all others. So
-- the index of a field holds every live object of the collection, and a list in the order of the field is read from it.

ALTER TABLE space ADD COLUMN indexes_absent INTEGER NOT NULL DEFAULT 1;  -- 0: an older program wrote the indexes
UPDATE space SET indexes_absent = 0;
