/// The reason of a failure: one stable word that HTTP, the CLI and the client library share.
///
/// Codes are never renamed or reused; programs may switch over them. An unknown one (from a newer agent) reads as `internal`.
public enum ErrorCode: String, CaseIterable, Sendable {
    // What was asked is not well-formed.
    case malformedJSON = "malformed_json"
    case malformedCSV = "malformed_csv"
    case invalidUTF8 = "invalid_utf8"
    case tooDeep = "too_deep"
    case tooLarge = "too_large"
    case numberOutOfRange = "number_out_of_range"
    case unknownOperation = "unknown_operation"
    case schemaInvalid = "schema_invalid"
    case invalidName = "invalid_name"
    case invalidArgument = "invalid_argument"
    case unknownKey = "unknown_key"
    case payloadTooLarge = "payload_too_large"
    case bodyTooLarge = "body_too_large"
    case unsupportedMediaType = "unsupported_media_type"
    case methodNotAllowed = "method_not_allowed"
    // What was asked is well-formed and does not fit what is here.
    case typeMismatch = "type_mismatch"
    case indexOutOfRange = "index_out_of_range"
    case insideCharacter = "inside_character"
    case ambiguousAttachment = "ambiguous_attachment"
    case ambiguousDevice = "ambiguous_device"
    // What was asked for is not here.
    case notFound = "not_found"
    case unknownSpace = "unknown_space"
    case unknownCollection = "unknown_collection"
    case unknownField = "unknown_field"
    case unknownStream = "unknown_stream"
    case unknownConsumer = "unknown_consumer"
    case unknownPeer = "unknown_peer"
    case unknownDevice = "unknown_device"
    case unknownAttachment = "unknown_attachment"
    case unknownSnapshot = "unknown_snapshot"
    // Refused: asking again does not help before something else changes.
    case forbidden = "forbidden"
    case readOnly = "read_only"
    case twoFounders = "two_founders"
    case notPaired = "not_paired"
    case versionMismatch = "version_mismatch"
    case textVersionUnknown = "text_version_unknown"
    case alreadyExists = "already_exists"
    case objectDeleted = "object_deleted"
    case undecided = "undecided"
    case constantField = "constant_field"
    case schemaWouldLoseData = "schema_would_lose_data"
    case catchingUp = "catching_up"
    case writingAgain = "writing_again"
    case duplicateIdentity = "duplicate_identity"
    case ticketInvalid = "ticket_invalid"
    case ticketExpired = "ticket_expired"
    case ticketUsed = "ticket_used"
    case wrongCode = "wrong_code"
    case alreadyPairing = "already_pairing"
    case notPairing = "not_pairing"
    case pairingEnded = "pairing_ended"
    case idempotencyMismatch = "idempotency_mismatch"
    case consumerBound = "consumer_bound"
    case snapshotSchema = "snapshot_schema"
    case snapshotForeign = "snapshot_foreign"
    case restoreUnfinished = "restore_unfinished"
    case limitReached = "limit_reached"
    case quotaExceeded = "quota_exceeded"
    case alreadyRunning = "already_running"
    // Failed: the outside world got in the way.
    case unreachable = "unreachable"
    case diskFull = "disk_full"
    case storeFailed = "store_failed"
    case objectIncomplete = "object_incomplete"
    case nobodyHas = "nobody_has"
    case damaged = "damaged"
    case truncated = "truncated"
    case notAnArchive = "not_an_archive"
    case fileChanged = "file_changed"
    case fileUnreadable = "file_unreadable"
    case fileUnwritable = "file_unwritable"
    case cancelled = "cancelled"
    case stopping = "stopping"
    case upgrading = "upgrading"
    case internalFault = "internal"
    // The agent cannot be reached at all; only clients report these.
    case agentNotRunning = "agent_not_running"
    case connectionLost = "connection_lost"
    case socketPathTooLong = "socket_path_too_long"
    case timedOut = "timed_out"

    /// The status of an HTTP answer that carries this code.
    public var httpStatus: Int {
        switch self {
        case .malformedJSON, .malformedCSV, .invalidUTF8, .invalidName, .invalidArgument, .unknownKey,
            .unknownOperation,
            .schemaInvalid, .ticketInvalid, .socketPathTooLong, .fileUnreadable, .fileUnwritable,
            .truncated, .notAnArchive:
            400
        case .forbidden, .readOnly, .notPaired: 403
        case .notFound, .unknownSpace, .unknownCollection, .unknownField, .unknownStream, .unknownConsumer,
            .unknownPeer, .unknownDevice, .unknownAttachment, .unknownSnapshot:
            404
        case .methodNotAllowed: 405
        case .versionMismatch, .alreadyExists, .undecided, .constantField, .schemaWouldLoseData, .catchingUp,
            .writingAgain, .wrongCode, .alreadyPairing, .notPairing, .pairingEnded, .twoFounders,
            .duplicateIdentity, .consumerBound, .limitReached, .alreadyRunning, .ambiguousAttachment, .ambiguousDevice,
            .fileChanged, .textVersionUnknown,
            .snapshotSchema, .snapshotForeign, .restoreUnfinished:
            409
        case .objectDeleted, .ticketExpired, .ticketUsed: 410
        case .payloadTooLarge, .bodyTooLarge, .tooLarge: 413
        case .unsupportedMediaType: 415
        case .typeMismatch, .indexOutOfRange, .insideCharacter, .numberOutOfRange, .tooDeep,
            .idempotencyMismatch:
            422
        case .internalFault, .damaged: 500
        case .unreachable, .connectionLost: 502
        case .storeFailed, .objectIncomplete, .nobodyHas, .cancelled, .stopping, .upgrading, .agentNotRunning: 503
        case .timedOut: 504
        case .diskFull, .quotaExceeded: 507
        }
    }

    /// The exit code of a command that fails with this code.
    public var exitCode: ExitCode {
        switch self {
        case .malformedJSON, .malformedCSV, .invalidUTF8, .tooDeep, .tooLarge, .numberOutOfRange, .schemaInvalid,
            .typeMismatch,
            .indexOutOfRange, .insideCharacter, .payloadTooLarge, .bodyTooLarge, .unreachable, .diskFull, .storeFailed,
            .objectIncomplete, .nobodyHas, .damaged, .fileChanged, .fileUnreadable, .fileUnwritable, .cancelled,
            .stopping, .upgrading, .internalFault, .unsupportedMediaType, .methodNotAllowed, .truncated, .notAnArchive:
            .failed
        case .invalidName, .invalidArgument, .unknownKey, .unknownOperation, .socketPathTooLong, .ambiguousAttachment,
            .ambiguousDevice:
            .usage
        case .notFound, .unknownSpace, .unknownCollection, .unknownField, .unknownStream, .unknownConsumer,
            .unknownPeer, .unknownDevice, .unknownAttachment, .unknownSnapshot:
            .notFound
        case .forbidden, .readOnly, .notPaired, .versionMismatch, .alreadyExists, .objectDeleted, .undecided,
            .constantField, .schemaWouldLoseData, .catchingUp, .writingAgain, .duplicateIdentity, .ticketInvalid,
            .ticketExpired, .ticketUsed, .idempotencyMismatch, .consumerBound, .limitReached, .quotaExceeded,
            .alreadyRunning,
            .snapshotSchema, .textVersionUnknown, .wrongCode, .alreadyPairing, .notPairing, .pairingEnded,
            .snapshotForeign, .restoreUnfinished, .twoFounders:
            .refused
        case .agentNotRunning, .connectionLost: .agentNotRunning
        case .timedOut: .timedOut
        }
    }
}

/// The exit codes of commands ; stable.
public enum ExitCode: Int32, CaseIterable, Sendable {
    /// The command succeeded.
    case ok = 0
    /// The command was tried and failed.
    case failed = 1
    /// The command line was wrong.
    case usage = 2
    /// The named thing does not exist.
    case notFound = 3
    /// The request is not allowed now: deleted, read-only, not paired, another version.
    case refused = 4
    /// The agent does not answer.
    case agentNotRunning = 5
    /// The awaited state was not reached in the time given.
    case timedOut = 6
}
