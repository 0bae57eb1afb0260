-- Objects whose row is removed do not come as changes. A reader that follows the changes of a collection from a position
-- before this one begins anew.

ALTER TABLE collection ADD COLUMN removed INTEGER NOT NULL DEFAULT 0;  -- object_position when a row was last removed
