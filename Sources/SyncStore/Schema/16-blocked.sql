-- A device that this node refuses: no session, no dial, no admission. Decided here, and known to no other node.
CREATE TABLE blocked (
    device BLOB NOT NULL PRIMARY KEY  -- 32 bytes
) STRICT, WITHOUT ROWID;
