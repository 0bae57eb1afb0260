-- The schema of today as a whole, for a new store and for the reader. The numbered steps bring an older store here, and
-- `SchemaTests` checks that both ways lead to the same: a new step changes this file as well. Columns that a step added are at the
-- end, since a step adds them there.
--
-- A commit only adds rows to the log (replica, segment, run, stream, addition); to go on with an open change it writes the last ones
-- anew. A value that follows from an existing row is not written a second time: a replica's tip is its newest segment, a stream's
-- length its newest run. So a commit of one event touches five pages. Compaction, and what is taken back, remove rows.
--
-- Stamps are unsigned 64 bits and SQLite's integers are signed: a column called *_stamp, or `stamp`, holds the stamp minus
-- 2^63, which keeps their order. A vector is 40 bytes and a varint for each replica.

PRAGMA application_id = 0x4c4e5944;

-- The log of changes.

-- A space is shared as a whole; so far there is one, `home`. Beside its name the row holds the values that every
-- transaction changes, and what is decided for the space on this node.
CREATE TABLE space (
    id                  INTEGER PRIMARY KEY,
    uuid                BLOB    NOT NULL UNIQUE,      -- 16 bytes, the SpaceID
    digest              BLOB    NOT NULL,             -- 32 bytes, Sum256 over what is shown
    changes             INTEGER NOT NULL,             -- how many are stored
    events              INTEGER NOT NULL,             -- how many are shown
    last_position       INTEGER NOT NULL,             -- arrival number of the newest event, 0 before the first
    own_replica         INTEGER,                      -- replica.id of our newest incarnation, null before the first write
    derived             INTEGER,                      -- the version of the rules that the derived tables follow; null: never
    objects             INTEGER NOT NULL DEFAULT 0,   -- live ones
    deleted_objects     INTEGER NOT NULL DEFAULT 0,   -- ids whose deletion is kept and holds
    object_position     INTEGER NOT NULL DEFAULT 0,   -- of the newest change to an object
    floor               BLOB,                         -- the join of the vectors at which deletions were collected, 40 bytes and a
                                                      -- varint each; null while nothing was collected
    late_operations     INTEGER NOT NULL DEFAULT 0,   -- dropped: the life for which they came is not here any more
    attachments         INTEGER NOT NULL DEFAULT 0,   -- shown ones
    fetch_limit         INTEGER,                      -- blobs of at most so many bytes are fetched unasked; null: all, -1: none
    quota               INTEGER,                      -- bytes that named blobs may take together; null: as much as the disk holds
    dropped_changes     INTEGER NOT NULL DEFAULT 0,   -- that compaction dropped from the log
    cuts                BLOB,                         -- CutTable; null while it is empty. It follows from the log, and stays when
                                                      -- changes of the log go
    incomplete          INTEGER NOT NULL DEFAULT 0,   -- 1: not all that a cut made void could be undone (LogState.isIncomplete)
    taken_back_position INTEGER,                      -- last_position when something was taken back last, since numbers are not
                                                      -- given out twice; null for never
    indexes_absent      INTEGER NOT NULL DEFAULT 1,   -- 0: an older program wrote `field_value`
    keeps_trust         INTEGER NOT NULL DEFAULT 1,   -- 0: facts that an older program stored have no rows in `trust` yet
    founder             BLOB,                         -- 32 bytes, the DeviceID by which roles are judged; null: this device, or one
                                                      -- that the facts do not tell yet
    own                 BLOB,                         -- 32 bytes, the DeviceID whose store this is; null before its first opening
    recovery_key        BLOB                          -- the public key learned of first; null if there is none
) STRICT;

-- A replica is one writable history, under a short number that other tables can afford.
CREATE TABLE replica (
    id               INTEGER PRIMARY KEY,
    space            INTEGER NOT NULL,
    replica          BLOB    NOT NULL,            -- 40 bytes, the ReplicaID
    named            BLOB,                        -- of our own: the vector its newest context named, 40 bytes and a varint each
    first_held       INTEGER NOT NULL DEFAULT 0,  -- changes are held from here on; those before came as state, or went
    first_context    BLOB,                        -- what its author had seen before that one; null if all changes are held, and
                                                  -- in old rows if they came as state
    compacted        INTEGER NOT NULL DEFAULT 0,  -- no changes are held before; behind it there may be some before first_held
    first_named      BLOB,                        -- the vector that its first change named (FirstContexts)
    first_is_hearsay INTEGER NOT NULL DEFAULT 0,  -- 1: that came with a state, and is not signed
    is_settled       INTEGER NOT NULL DEFAULT 0,  -- 1: of this one of our own we hold the history that stays
    strict_end       INTEGER,                     -- where all that it says ends to count (CutTable.strictEnd); null: nowhere
    UNIQUE (space, replica)
) STRICT;

CREATE INDEX replica_with_strict_end ON replica (space) WHERE strict_end IS NOT NULL;

-- A segment is a stretch of one replica's changes between two kept signatures: the bytes as their author wrote them, the
-- head of the chain and the author's signature at its end. Ids grow in the order of arrival. A stretch that came as state, or
-- was compacted, is a residue: change_count 0, the changes that have events, and all else in them void. It cannot be served as
-- changes. The last residue of a replica has its head and signature; those before have an empty head.
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

-- Events.

-- A stream has a number from its first event on.
CREATE TABLE stream (
    id    INTEGER PRIMARY KEY,
    space INTEGER NOT NULL,
    name  TEXT    NOT NULL,
    UNIQUE (space, name)
) STRICT;

-- A run is the events of one stream in one segment. Events have no rows of their own: a run says where they are, in a
-- few bytes each, and both orders follow from it. By arrival, runs of a stream do not overlap; canonically, those of one
-- stream and replica do not, so the order of all is a merge of replicas. A run beyond a strict end stays, and `total` is
-- without it.
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

-- The dropped events of a stream (DroppedEvents). The row stays when the operations that dropped them go.
CREATE TABLE dropped_events (
    stream     INTEGER PRIMARY KEY,
    events     BLOB    NOT NULL,
    is_trimmed INTEGER NOT NULL DEFAULT 0  -- 1: nothing of them is in residues any more
) STRICT;

-- A consumer is a reader of one stream with a cursor that outlives it.
CREATE TABLE consumer (
    space         INTEGER NOT NULL,
    name          TEXT    NOT NULL,
    stream        TEXT    NOT NULL,
    position      INTEGER NOT NULL,            -- everything up to this arrival number was acknowledged
    delivered     INTEGER NOT NULL,            -- and up to this one handed out at least once
    is_canonical  INTEGER NOT NULL DEFAULT 0,  -- 1: reads in canonical order
    key           BLOB,                        -- canonical: of what arrived up to `position`, all up to here was acknowledged;
                                               -- null before the first. CanonicalKey, 56 bytes that sort as keys do
    delivered_key BLOB,                        -- canonical: of what arrived up to `delivered`, handed out up to here
    snapshot      BLOB,                        -- the events that its state holds beside those, since it began with a snapshot: a
                                               -- vector; null for nothing
    PRIMARY KEY (space, name, stream)
) STRICT, WITHOUT ROWID;

-- A restore that was begun and not finished: the consumer cannot be read until then, and has these values afterwards.
CREATE TABLE consumer_restore (
    space        INTEGER NOT NULL,
    name         TEXT    NOT NULL,
    stream       TEXT    NOT NULL,
    id           TEXT    NOT NULL,  -- names the snapshot
    is_canonical INTEGER NOT NULL,
    key          BLOB,              -- as above
    snapshot     BLOB    NOT NULL,  -- as above
    PRIMARY KEY (space, name, stream)
) STRICT, WITHOUT ROWID;

-- Objects. All of it follows from the log, except local fields and dismissals: it is derived change by change in the order of
-- arrival, and can be derived anew.

-- A collection has a number from its first object or its schema on.
CREATE TABLE collection (
    id      INTEGER PRIMARY KEY,
    space   INTEGER NOT NULL,
    name    TEXT    NOT NULL,
    schema  BLOB,                        -- CollectionSchema; null while none has been set
    removed INTEGER NOT NULL DEFAULT 0,  -- object_position when a row was last removed: such objects do not come as changes
    UNIQUE (space, name)
) STRICT;

-- An object is everything known of one id: its lives with their fields, its deletions.
CREATE TABLE object (
    id               INTEGER PRIMARY KEY,
    collection       INTEGER NOT NULL,
    key              TEXT    NOT NULL,            -- the object's id, 1 to 256 bytes
    standing         INTEGER NOT NULL,            -- 0 nothing to see, 1 live, 2 deleted, 3 undecided
    has_conflict     INTEGER NOT NULL,            -- 1 when a person should look at it
    dismissed        INTEGER NOT NULL,            -- edits dropped by a deletion, listed to a user and dismissed, here
    position         INTEGER NOT NULL,            -- grows with every change to any object; a later change moves the row
    changed          INTEGER NOT NULL,            -- clock of the author of its newest change, milliseconds since 1970
    version_replica  BLOB,                        -- the operation last applied: 40 bytes, ReplicaID
    version_counter  INTEGER,
    digest           BLOB,                        -- its term in the state digest, 32 bytes; null for none
    state            BLOB    NOT NULL,            -- ObjectState; empty with a snapshot
    local            BLOB,                        -- fields that never leave this node: canonical JSON; null for none
    deletion_replica INTEGER,                     -- replica.id: the newest deletion that it keeps; null without one
    deletion_counter INTEGER,
    dropped_edits    BLOB,                        -- by collected deletions, and not dismissed here; null for none
    snapshot_bytes   INTEGER NOT NULL DEFAULT 0,  -- of the snapshot; 0 where `state` is the whole object
    edit_bytes       INTEGER NOT NULL DEFAULT 0,  -- of the edits behind the snapshot
    touched          BLOB,                        -- what has touched it, shown or not: varint replica.id and next counter each
    touched_stamp    INTEGER,                     -- the greatest stamp of those operations, minus 2^63
    history          INTEGER NOT NULL DEFAULT 0,  -- in the log: 0 all of it; 1 none, and nothing was done to it since; 2 from
                                                  -- `beginning` on
    UNIQUE (collection, key)
) STRICT;

CREATE UNIQUE INDEX object_by_change ON object (position);
CREATE INDEX object_deleted ON object (collection, key) WHERE standing = 2;
CREATE INDEX object_with_conflict ON object (collection, key) WHERE has_conflict = 1;
CREATE INDEX object_by_deletion ON object (deletion_replica, deletion_counter) WHERE deletion_replica IS NOT NULL;
CREATE INDEX object_by_touch ON object (touched_stamp);

-- A touch says that a segment has operations on an object: its history is read from there.
CREATE TABLE touch (
    object  INTEGER NOT NULL,
    segment INTEGER NOT NULL,
    PRIMARY KEY (object, segment)
) STRICT, WITHOUT ROWID;

-- A field value is what a live object shows in a field that the collection's schema calls indexed. With the object's id in
-- the key, those of one value come in the order in which they are listed. An object that shows nothing has the empty value.
CREATE TABLE field_value (
    collection INTEGER NOT NULL,
    field      TEXT    NOT NULL,
    value      BLOB    NOT NULL,  -- canonical bytes of the JSON value; empty for none
    key        TEXT    NOT NULL,  -- the object's id
    PRIMARY KEY (collection, field, value, key)
) STRICT, WITHOUT ROWID;

-- A snapshot is a large object as it was when it was last written as a whole. A table of its own: an update of a row writes
-- the whole row.
CREATE TABLE snapshot (
    object INTEGER PRIMARY KEY,
    state  BLOB NOT NULL         -- ObjectState
) STRICT;

-- An edit is one operation on a life, applied behind the snapshot and the edits before it: a keystroke never rewrites a book.
CREATE TABLE edit (
    object  INTEGER NOT NULL,
    number  INTEGER NOT NULL,  -- from 0 on
    replica INTEGER NOT NULL,  -- replica.id of its dot
    counter INTEGER NOT NULL,
    stamp   INTEGER NOT NULL,  -- of its change, minus 2^63
    wall    INTEGER NOT NULL,  -- the author's clock, milliseconds since 1970; for display only
    context BLOB,              -- what its author had seen, 40 bytes and a varint each: all of it in the author's first edit
                               -- behind the snapshot, then what moved since the one before; null when nothing did
    life    BLOB    NOT NULL,  -- 40 bytes and a varint, the birth it edits
    edits   BLOB    NOT NULL,  -- fields' edits, or the attached file, or the dot of what is detached
    kind    INTEGER NOT NULL DEFAULT 3,  -- as on the wire: 3 edits fields, 9 attaches, 10 detaches
    PRIMARY KEY (object, number)
) STRICT, WITHOUT ROWID;

-- A birth is one of a life that an object keeps: what is not here, and is covered by the vector, has ended.
CREATE TABLE birth (
    replica INTEGER NOT NULL,  -- replica.id of its dot
    counter INTEGER NOT NULL,
    object  INTEGER NOT NULL,
    PRIMARY KEY (replica, counter)
) STRICT, WITHOUT ROWID;

-- A beginning is the state of an object at the beginning of the held part of its history.
CREATE TABLE beginning (
    object          INTEGER PRIMARY KEY,
    cut             BLOB    NOT NULL,  -- 8 bytes, names the vector below which changes were dropped; empty: what came as state
    changed         INTEGER NOT NULL,  -- clock of the author of its newest change then, milliseconds since 1970
    version_replica BLOB,              -- the operation applied last then: 40 bytes, ReplicaID
    version_counter INTEGER,
    state           BLOB    NOT NULL   -- ObjectState
) STRICT;

-- Attachments, and the bytes that they name.

-- An attachment is the immutable record, under the dot that attached it. Only while it is shown.
CREATE TABLE attachment (
    replica    INTEGER NOT NULL,  -- replica.id of its dot
    counter    INTEGER NOT NULL,
    object     INTEGER NOT NULL,
    reference  INTEGER NOT NULL,  -- blob_reference.id
    stamp      INTEGER NOT NULL,  -- of its change, minus 2^63
    label      TEXT    NOT NULL,  -- 26 characters that follow from the dot; people name it by the first few
    name       TEXT    NOT NULL,
    media_type TEXT    NOT NULL,
    width      INTEGER,           -- pixels; null for what is no picture
    height     INTEGER,
    PRIMARY KEY (replica, counter)
) STRICT, WITHOUT ROWID;

CREATE INDEX attachment_of_object ON attachment (object, stamp);
CREATE INDEX attachment_by_stamp ON attachment (stamp);
CREATE INDEX attachment_by_label ON attachment (label);
CREATE INDEX attachment_of_blob ON attachment (reference, stamp);

-- A blob reference says how many attachments need a blob, and what to fetch. A blob is named by its hash and its size. The row
-- stays when none needs it, until the blob is removed: bytes that are attached again meanwhile are still here.
CREATE TABLE blob_reference (
    id          INTEGER PRIMARY KEY,
    space       INTEGER NOT NULL,
    blob        BLOB    NOT NULL,  -- 32 bytes, BlobHash
    size        INTEGER NOT NULL,  -- bytes
    attachments INTEGER NOT NULL,
    released    INTEGER,           -- this node's clock when the last of them went, milliseconds since 1970; null while one needs it
    stamp       INTEGER,           -- of the newest record, minus 2^63; null while none names it
    is_missing  INTEGER NOT NULL DEFAULT 0,  -- 1: a record names it, and it is not here as a whole
    is_pinned   INTEGER NOT NULL DEFAULT 0,  -- 1: fetched whatever the policy; of no effect while no record names it
    UNIQUE (space, blob, size)
) STRICT;

CREATE INDEX blob_reference_by_release ON blob_reference (space, released) WHERE released IS NOT NULL;
-- In the order in which they are fetched. Pinned ones apart: those are fetched beyond the limit. The columns at the end say
-- nothing, but let a query be answered without the table.
CREATE INDEX missing_blob ON blob_reference (space, size, stamp DESC, blob, is_missing) WHERE is_missing = 1;
CREATE INDEX missing_pinned_blob ON blob_reference (space, size, stamp DESC, blob, is_missing, is_pinned)
    WHERE is_missing = 1 AND is_pinned = 1;

-- A holder is a device that said that it holds all of a blob: to tell who had it last. It goes with the reference.
CREATE TABLE holder (
    reference INTEGER NOT NULL,  -- blob_reference.id
    device    BLOB    NOT NULL,  -- 32 bytes, DeviceID
    noted     INTEGER NOT NULL,  -- this node's clock when it said so, milliseconds since 1970
    PRIMARY KEY (reference, device)
) STRICT, WITHOUT ROWID;

-- A row says what is here and where; a blob of which nothing is here has none. The row comes after the bytes and goes before
-- them: what `place` says was durable before it was said.
CREATE TABLE blob (
    id      INTEGER PRIMARY KEY,
    hash    BLOB    NOT NULL UNIQUE,  -- BlobHash, 32 bytes
    size    INTEGER NOT NULL,         -- bytes
    place   INTEGER NOT NULL,         -- 0 in `small_blob` · 1 whole, in a file · 2 some of it, in a file
    present BLOB,                     -- of place 2: the chunks known to be durable (ChunkSet); for display: before any is
                                      -- used, the file is read
    touched INTEGER NOT NULL          -- when it was last added or begun, milliseconds since 1970: grace begins no earlier
) STRICT;

CREATE INDEX partial_blob ON blob (id) WHERE place = 2;

-- The bytes of small blobs: thousands of them cost one transaction. A table of its own, so that looking through `blob` does
-- not read them.
CREATE TABLE small_blob (
    blob  INTEGER PRIMARY KEY,        -- blob.id
    bytes BLOB    NOT NULL
) STRICT;

-- The hashes of the chunks of a blob in a file: what a chunk is checked against, after it came and before it goes. In pages,
-- so that one chunk of 16 GiB costs reading 4 KiB and not 2 MiB.
CREATE TABLE chunk_hashes (
    blob   INTEGER NOT NULL,          -- blob.id
    page   INTEGER NOT NULL,          -- from 0 on
    hashes BLOB    NOT NULL,          -- ChunkHash, 32 bytes each: 128 of them but for the last page
    PRIMARY KEY (blob, page)
) STRICT, WITHOUT ROWID;

-- The places of the chunks of blobs in files, partial ones included: a chunk on this disk is copied, and not requested from a
-- peer. The prefix finds candidates; the hash in `chunk_hashes`, and the bytes themselves, decide.
CREATE TABLE chunk_place (
    prefix BLOB    NOT NULL,          -- the first 8 bytes of the ChunkHash
    blob   INTEGER NOT NULL,          -- blob.id
    chunk  INTEGER NOT NULL,          -- from 0 on
    PRIMARY KEY (prefix, blob, chunk)
) STRICT, WITHOUT ROWID;

-- Members.

-- An acknowledgement is one member's signed statement of what it holds: the newest of each member, ours too. Peers have
-- them as well; here they survive a start, so that stable changes stay stable.
CREATE TABLE acknowledgement (
    space  INTEGER NOT NULL,
    device BLOB    NOT NULL,  -- 32 bytes, the DeviceID
    signed BLOB    NOT NULL,  -- SignedAcknowledgement
    PRIMARY KEY (space, device)
) STRICT, WITHOUT ROWID;

-- An addition is an `addMember` fact found in the log, void or not, in the order of arrival: membership is computed
-- from all of them at every start.
CREATE TABLE addition (
    id      INTEGER PRIMARY KEY,
    space   INTEGER NOT NULL,
    author  BLOB    NOT NULL,  -- 32 bytes, the DeviceID of the change's author
    fact    BLOB    NOT NULL,  -- MemberFact, as encoded in the operation
    wall    INTEGER NOT NULL,  -- the author's clock, milliseconds since 1970; for display only
    replica BLOB,              -- with `counter` the dot of the operation
    counter INTEGER
) STRICT;

-- The log of trust (TrustRecord): which member admitted, retired or revoked which device, and which devices a person blocked on
-- this node. A row stays when the log is compacted and when tables are derived from the log again.
CREATE TABLE trust (
    id      INTEGER PRIMARY KEY,  -- in the order in which this node learned of the facts
    space   INTEGER NOT NULL,
    kind    INTEGER NOT NULL,     -- TrustFact.Kind
    author  BLOB    NOT NULL,     -- 32 bytes, the DeviceID
    device  BLOB    NOT NULL,     -- 32 bytes, the device that the fact is about
    replica BLOB,                 -- 40 bytes, with `counter` the dot of the operation; null for a decision of this node
    counter INTEGER,
    wall    INTEGER,              -- the author's clock, milliseconds since 1970; null if unknown
    known   INTEGER,              -- this node's clock at the commit, milliseconds since 1970; null if from before this table
    is_gone INTEGER NOT NULL DEFAULT 0,  -- 1: the operation was taken back with its history (TakingBack)
    detail  BLOB    NOT NULL
) STRICT;

-- An operation has one row. Decisions of this node have no dot, and each has a row of its own.
CREATE UNIQUE INDEX trust_by_dot ON trust (replica, counter, kind, device, space);
CREATE INDEX trust_by_author ON trust (author);
CREATE INDEX trust_by_device ON trust (device, author);

-- Decisions of this node, known to no other.

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
    expires INTEGER NOT NULL,            -- milliseconds since 1970
    used_by BLOB,                        -- 32 bytes; null until used
    role    INTEGER NOT NULL DEFAULT 1,  -- MemberFact.Role of the device that joins with it
    until   INTEGER                      -- when its membership ends by itself, seconds since 1970; null: it does not
) STRICT;

-- A device that this node refuses: no session, no dial, no admission. Decided here, and known to no other node.
CREATE TABLE blocked (
    device BLOB NOT NULL PRIMARY KEY  -- 32 bytes
) STRICT, WITHOUT ROWID;

-- An answered write is a write requested under a key (`Idempotency-Key`), with its answer: written in the transaction
-- of its write, so that the same request again finds either both or none. Kept for a day, and 100,000 at most.
CREATE TABLE answered_write (
    id      INTEGER PRIMARY KEY,  -- in the order they were written
    name    BLOB    NOT NULL UNIQUE,  -- 16 bytes, WriteKey
    request BLOB    NOT NULL,  -- 16 bytes, WriteKey
    at      INTEGER NOT NULL,  -- this node's clock then, milliseconds since 1970
    outcome BLOB    NOT NULL   -- WriteOutcome
) STRICT;

-- A state on its way to here.

-- A staging is a state delta that is being received. Readers see those of its objects that are
-- not stored otherwise. They must not be written to before the whole state is here and joined.
CREATE TABLE staging (
    space  INTEGER PRIMARY KEY,
    since  BLOB    NOT NULL,  -- the vector it was asked for: 40 bytes and a varint each
    stream INTEGER NOT NULL,  -- how often it was begun; a stream that ends early is begun anew
    -- The last rows that came as they were sent, by a check behind them: what is behind those goes when a stream ends early.
    checked_object  INTEGER NOT NULL DEFAULT 0,
    checked_residue INTEGER NOT NULL DEFAULT 0
) STRICT;

-- A staged object is what a sender said of an object. It is used only if the newest stream has announced it.
CREATE TABLE staged_object (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    collection TEXT    NOT NULL,
    key        TEXT    NOT NULL,
    digest     BLOB    NOT NULL,  -- 16 bytes, of what has touched it at the sender
    stream     INTEGER NOT NULL,  -- that announced it last
    state      BLOB,              -- StateObject; null until it came
    UNIQUE (collection, key)
) STRICT;

-- A staged residue is some of a replica's events.
CREATE TABLE staged_residue (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    replica BLOB    NOT NULL,  -- 40 bytes, the ReplicaID
    start   INTEGER NOT NULL,  -- first counter
    end     INTEGER NOT NULL,  -- next counter behind it
    context BLOB    NOT NULL,  -- what must come before it: 40 bytes and a varint each
    bytes   BLOB    NOT NULL,  -- EventResidue
    UNIQUE (replica, start)
) STRICT;

-- A staged birth is a run of births of lives that the sender keeps; of the newest stream.
CREATE TABLE staged_birth (
    replica BLOB    NOT NULL,  -- 40 bytes, the ReplicaID
    start   INTEGER NOT NULL,  -- first counter
    end     INTEGER NOT NULL,  -- next counter behind it
    PRIMARY KEY (replica, start)
) STRICT, WITHOUT ROWID;

-- A staged item is any other piece of the newest stream.
CREATE TABLE staged_item (
    id   INTEGER PRIMARY KEY,
    item BLOB NOT NULL  -- StateItem
) STRICT;

-- Forks: two histories signed with one key, and the changes of the history that gave way (TakingBack).

-- The work that this device took back, in the order of writing, until it is done again.
CREATE TABLE taken_back (
    id      INTEGER PRIMARY KEY,
    space   INTEGER NOT NULL,
    replica BLOB    NOT NULL,  -- 40 bytes, whose history it was
    start   INTEGER NOT NULL,  -- first counter that is left to do
    end     INTEGER NOT NULL,  -- next counter after it
    known   BLOB    NOT NULL,  -- a vector: what its author had seen
    bytes   BLOB    NOT NULL   -- changes, from `start` on
) STRICT;

-- The ends of our own changes that were taken back to be done again: a device that holds one of these may take it back, too.
CREATE TABLE gave_way (
    space   INTEGER NOT NULL,
    replica BLOB    NOT NULL,  -- 40 bytes
    end     INTEGER NOT NULL,  -- the counter behind the change
    head    BLOB    NOT NULL,  -- 32 bytes
    PRIMARY KEY (space, replica, end, head)
) STRICT, WITHOUT ROWID;

-- The rest of a history that stays, and changes of third devices that had seen that rest or the changes that gave way. A segment is
-- applied as soon as all that its author had seen is held.
CREATE TABLE held_back (
    id        INTEGER PRIMARY KEY,
    space     INTEGER NOT NULL,
    replica   BLOB    NOT NULL,  -- 40 bytes
    start     INTEGER NOT NULL,
    end       INTEGER NOT NULL,
    is_rest   INTEGER NOT NULL,  -- 1: of the history that stays
    signature BLOB    NOT NULL,
    bytes     BLOB    NOT NULL
) STRICT;

-- The new places of work that was done again; forgotten once all of it is done.
CREATE TABLE taken_back_place (
    space       INTEGER NOT NULL,
    replica     BLOB    NOT NULL,  -- 40 bytes, whose history it was
    start       INTEGER NOT NULL,
    count       INTEGER NOT NULL,
    new_replica BLOB    NOT NULL,  -- 40 bytes
    new_start   INTEGER NOT NULL
) STRICT;
