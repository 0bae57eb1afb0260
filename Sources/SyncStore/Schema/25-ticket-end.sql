-- When the membership of the device that joins with it ends by itself.
ALTER TABLE ticket ADD COLUMN until INTEGER;  -- seconds since 1970; null: it does not
