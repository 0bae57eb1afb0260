-- An answered write is one that was asked for under a key (`Idempotency-Key`), and what it was answered: written in the transaction
-- of its write, so that the same request again finds either both or none. Kept for a day, and 100,000 at most; local to this node.
CREATE TABLE answered_write (
    id      INTEGER PRIMARY KEY,  -- in the order they were written
    name    BLOB    NOT NULL UNIQUE,  -- 16 bytes, WriteKey
    request BLOB    NOT NULL,  -- 16 bytes, WriteKey
    at      INTEGER NOT NULL,  -- this node's clock then, milliseconds since 1970
    outcome BLOB    NOT NULL   -- WriteOutcome
) STRICT;
