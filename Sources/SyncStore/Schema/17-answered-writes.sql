-- An answered write is a write requested under a key (`Idempotency-Key`), with its answer: written in the transaction
-- of its write, so that the same request again finds either both or none. Kept for a day, and 100,000 at most; local to this node.
CREATE TABLE answered_write (
    id      INTEGER PRIMARY KEY,  -- in the order they were written
    name    BLOB    NOT NULL UNIQUE,  -- 16 bytes, WriteKey
    request BLOB    NOT NULL,  -- 16 bytes, WriteKey
    at      INTEGER NOT NULL,  -- this node's clock then, milliseconds since 1970
    outcome BLOB    NOT NULL   -- WriteOutcome
) STRICT;
