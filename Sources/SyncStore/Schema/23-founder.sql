-- The founder of the space that this device follows, by which roles are judged. It is adopted with the first host, and stays.
ALTER TABLE space ADD COLUMN founder BLOB;  -- 32 bytes, a DeviceID; null: this device, or one that the facts do not tell yet
ALTER TABLE space ADD COLUMN own BLOB;      -- 32 bytes, the DeviceID of the device whose store it is; null before its first opening

-- The public recovery key that this node learned of first; null if there is none. It stays: a thief could name another.
ALTER TABLE space ADD COLUMN recovery_key BLOB;

ALTER TABLE ticket ADD COLUMN role INTEGER NOT NULL DEFAULT 1;  -- MemberFact.Role: what the device that joins with it may do
