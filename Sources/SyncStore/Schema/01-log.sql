-- The schema as the first release wrote it. Later files change it; this one is never edited again.
--
-- Rows are only ever added to the log (replica, segment, run, stream, addition). A value that follows from an
-- existing row is not written a second time: a replica's tip is its newest segment, a stream's length its newest run.
-- So a commit of one event touches five pages.
--
-- Stamps are unsigned 64 bits and SQLite's integers are signed: a column called *_stamp holds the stamp minus 2^63,
-- which keeps their order.

PRAGMA application_id = 0x4c4e5944;

-- A space is shared as a whole; so far there is one, `home`. Beside its name the row holds the values that every
-- transaction changes: the sums of the stored changes and events, and the replica under which this store wrote last.
CREATE TABLE space (
    id            INTEGER PRIMARY KEY,
    uuid          BLOB    NOT NULL UNIQUE,  -- 16 bytes, the SpaceID
    digest        BLOB    NOT NULL,         -- 32 bytes, Sum256 over the events shown
    changes       INTEGER NOT NULL,         -- how many are stored
    events        INTEGER NOT NULL,         -- how many are shown
    last_position INTEGER NOT NULL,         -- arrival number of the newest event, 0 before the first
    own_replica   INTEGER                   -- replica.id of our newest incarnation, null before the first write
) STRICT;

-- A replica is one writable history, under a short number that other tables can afford.
CREATE TABLE replica (
    id      INTEGER PRIMARY KEY,
    space   INTEGER NOT NULL,
    replica BLOB    NOT NULL,  -- 40 bytes, the ReplicaID
    named   BLOB,              -- of our own: the vector its newest context named, 40 bytes and a varint each
    UNIQUE (space, replica)
) STRICT;

-- A segment is a stretch of one replica's changes between two kept signatures: the bytes as their author wrote them, the
-- head of the chain and the author's signature at its end. Ids grow in the order of arrival.
CREATE TABLE segment (
    id             INTEGER PRIMARY KEY,
    replica        INTEGER NOT NULL,
    start          INTEGER NOT NULL,  -- first counter
    end            INTEGER NOT NULL,  -- next counter after it
    change_count   INTEGER NOT NULL,
    first_position INTEGER NOT NULL,  -- arrival number of its first event (of the next one, if it has none)
    event_count    INTEGER NOT NULL,  -- shown ones
    last_stamp     INTEGER NOT NULL,
    head           BLOB    NOT NULL,  -- 32 bytes, at `end`
    signature      BLOB    NOT NULL,  -- 64 bytes, at `end`
    bytes          BLOB    NOT NULL,  -- last, so that the rest is read without it
    UNIQUE (replica, end)
) STRICT;

-- A stream has a number from its first event on.
CREATE TABLE stream (
    id    INTEGER PRIMARY KEY,
    space INTEGER NOT NULL,
    name  TEXT    NOT NULL,
    UNIQUE (space, name)
) STRICT;

-- A run is the events of one stream in one segment. Events have no rows of their own: a run says where they are, in a
-- few bytes each, and both orders follow from it. By arrival, runs of a stream do not overlap; canonically, those of one
-- stream and replica do not, so the order of all is a merge of replicas.
CREATE TABLE run (
    stream        INTEGER NOT NULL,
    last_position INTEGER NOT NULL,  -- arrival number of its last event
    segment       INTEGER NOT NULL,
    replica       INTEGER NOT NULL,  -- the segment's
    first_stamp   INTEGER NOT NULL,
    last_stamp    INTEGER NOT NULL,
    total         INTEGER NOT NULL,  -- events of the stream up to and with this run
    places        BLOB    NOT NULL,  -- EventPlaces: where in the segment, and which arrival numbers
    PRIMARY KEY (stream, last_position)
) STRICT, WITHOUT ROWID;

CREATE INDEX run_in_canonical_order ON run (stream, replica, last_stamp);

-- An addition is an `addMember` fact found in the log, void or not, in the order of arrival: membership is computed
-- from all of them at every start.
CREATE TABLE addition (
    id     INTEGER PRIMARY KEY,
    space  INTEGER NOT NULL,
    author BLOB    NOT NULL,  -- 32 bytes, the DeviceID of the change's author
    fact   BLOB    NOT NULL,  -- MemberFact, as encoded in the operation
    wall   INTEGER NOT NULL   -- the author's clock, milliseconds since 1970; for display only
) STRICT;

-- A consumer is a reader of one stream with a cursor that outlives it.
CREATE TABLE consumer (
    space     INTEGER NOT NULL,
    name      TEXT    NOT NULL,
    stream    TEXT    NOT NULL,
    position  INTEGER NOT NULL,  -- everything up to this arrival number was acknowledged
    delivered INTEGER NOT NULL,  -- and up to this one handed out at least once
    PRIMARY KEY (space, name, stream)
) STRICT, WITHOUT ROWID;

-- An address is where to dial: where a member was last met, or one a person added.
CREATE TABLE address (
    id             INTEGER PRIMARY KEY,
    host           TEXT    NOT NULL,
    port           INTEGER NOT NULL,
    device         BLOB,              -- 32 bytes; null until a device answered there
    is_static      INTEGER NOT NULL,  -- 1 when a person added it
    last_connected INTEGER,           -- milliseconds since 1970
    UNIQUE (host, port)
) STRICT;

-- A ticket is an invitation we gave out. Used ones stay, so that a second use can be told from a wrong secret.
CREATE TABLE ticket (
    id      INTEGER PRIMARY KEY,
    secret  BLOB    NOT NULL UNIQUE,
    expires INTEGER NOT NULL,  -- milliseconds since 1970
    used_by BLOB               -- 32 bytes; null until used
) STRICT;
