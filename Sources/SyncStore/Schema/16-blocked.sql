-- A device that this node has nothing to do with, decided here and known to nobody else: no session, no dial, no admission.
CREATE TABLE blocked (
    device BLOB NOT NULL PRIMARY KEY  -- 32 bytes
) STRICT, WITHOUT ROWID;
