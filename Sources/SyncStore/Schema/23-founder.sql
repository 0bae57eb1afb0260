-- The founder of the space that this device follows, by which roles are judged. It is adopted with the first host, and stays.
ALTER TABLE space ADD COLUMN founder BLOB;  -- 32 bytes, a DeviceID; null: this device, or one that the facts do not tell yet

ALTER TABLE ticket ADD COLUMN role INTEGER NOT NULL DEFAULT 1;  -- MemberFact.Role: what the device that joins with it may do
