-- The settings of streams, and the events shown by streams that show only the greatest event per type.

-- A stream setting is the greatest, in canonical order, of all settings ever made for the stream.
CREATE TABLE stream_setting (
    stream      INTEGER PRIMARY KEY,
    latest_only INTEGER NOT NULL,  -- 1 when only the greatest event per type is shown
    retain      INTEGER,           -- milliseconds; null for ever
    stamp       INTEGER NOT NULL,  -- of the change that set it, minus 2^63
    replica     BLOB    NOT NULL,  -- the operation's dot
    counter     INTEGER NOT NULL
) STRICT;

-- A latest event is the greatest of its type in a stream that shows no others. There are rows only for such streams.
CREATE TABLE latest_event (
    stream   INTEGER NOT NULL,
    type     TEXT    NOT NULL,  -- '=' and the type; empty for events without one
    position INTEGER NOT NULL,  -- its arrival number
    stamp    INTEGER NOT NULL,  -- of its change, minus 2^63
    replica  BLOB    NOT NULL,  -- its dot
    counter  INTEGER NOT NULL,
    digest   BLOB    NOT NULL,  -- its term in the state digest, 32 bytes
    PRIMARY KEY (stream, type)
) STRICT, WITHOUT ROWID;

CREATE INDEX latest_event_by_arrival ON latest_event (stream, position);
