import Glibc
package import SyncModel
package import SyncStore
package import SyncTransport

/// The reason why an agent cannot start, or cannot do what it was asked to. Codes are stable; every message has a next step.
package enum AgentError: Error, Sendable {
    case store(StoreError, directory: String)
    /// A newer program brought the store up to a schema that this one does not know. Nothing was changed.
    case storeNewer(NewerStore)
    /// The folder of large blobs cannot be used.
    case blobs(BlobError, directory: String)
    case identity(IdentityError)
    case listen(ListenError)
    /// The data directory could not be made or is open to others: path and errno.
    case directory(path: String, code: Int32)
    /// `lanyard restore` is at work there, or was stopped in its middle.
    case unfinishedRestore(path: String)
    /// Another live agent has our key.
    case duplicateIdentity
    /// The other side of a pairing is blocked here.
    case blocked(DeviceID)
    /// The device that asks to join was revoked, and this one is no admin.
    case revoked(DeviceID)
    /// A pairing by typed codes runs already.
    case alreadyPairing
    /// The configuration is being read again.
    case alreadyReloading
    /// A device gives no greater role than its own, and a reader none.
    case roleTooGreat(MemberFact.Role, own: MemberFact.Role)
    /// The membership that is to be given would be over already.
    case untilPassed
    /// The store of an older program is being upgraded: it can be read at most.
    case upgrading
    case stopping

    /// True if another start of the same program would end alike.
    package var isFinal: Bool {
        if case .storeNewer = self { true } else { false }
    }

    package var code: String {
        switch self {
        case .store(let error, _): StoreDriver.code(of: error)
        case .storeNewer: "schema_newer"
        case .blobs(let error, _): error.code
        case .identity(let error): error.code
        case .listen(let error): error.code
        case .directory: "directory_unreadable"
        case .unfinishedRestore: "restore_unfinished"
        case .duplicateIdentity: "duplicate_identity"
        case .blocked: "blocked"
        case .revoked: "revoked"
        case .alreadyPairing: "already_pairing"
        case .alreadyReloading: "already_running"
        case .roleTooGreat: "role_too_great"
        case .untilPassed: "until_passed"
        case .upgrading: "upgrading"
        case .stopping: "stopping"
        }
    }

    package var message: String {
        switch self {
        case .store(.locked(let processID), let directory):
            "another agent\(processID.map { " (process \($0))" } ?? "") uses \(directory)"
        case .storeNewer(let store): store.message
        case .store(.corrupt(let detail), let directory): "the database in \(directory) is damaged: \(detail)"
        case .store(.unreadable(let path, let code), _): "cannot use \(path): \(String(cString: strerror(code)))"
        case .store(.foreignTail(let replica), let directory):
            "the newest changes in \(directory) wait for the signature of \(replica.device.shortID), whose identity is not there"
        case .store(.diskFull, let directory): "no space is left for \(directory)"
        case .store(let error, let directory): "cannot open the store in \(directory): \(error)"
        case .blobs(.unreadable(let code), let directory), .blobs(.inputOutput(let code), let directory):
            "cannot use \(directory)/blobs: \(String(cString: strerror(code)))"
        case .blobs(.diskFull, let directory): "no space is left for \(directory)/blobs"
        case .blobs(let error, let directory): "cannot open the blobs in \(directory)/blobs: \(error)"
        case .identity(let error): error.message
        case .listen(let error): error.message
        case .directory(let path, let code): "cannot use \(path): \(String(cString: strerror(code)))"
        case .unfinishedRestore(let path): "a restore into \(path) is not finished"
        case .duplicateIdentity: "another agent runs with this device's identity; nothing was written"
        case .blocked(let device): "\(device.shortID) is blocked on this device"
        case .revoked(let device): "\(device.shortID) was revoked: only an admin lets it in again"
        case .alreadyPairing: "a pairing runs on this device already"
        case .alreadyReloading: "the configuration is being read again already"
        case .roleTooGreat(_, .reader): "this device is a reader: it admits no other device"
        case .roleTooGreat(let role, let own):
            "this device is \(Self.words(own)): it cannot make another one \(Self.words(role))"
        case .untilPassed: "this membership would be over already"
        case .upgrading: "the store is being upgraded"
        case .stopping: "the agent is stopping"
        }
    }

    package var hint: String {
        switch self {
        case .store(.locked, _): "stop the other agent, or give this one its own --data-dir"
        case .storeNewer(let store): store.hint
        case .store(.corrupt, _): "move the directory aside and join again with a ticket; keep it until all is back"
        case .store(.unreadable(let path, _), _), .directory(let path, _):
            "give the agent's user access: chown -R USER \(path); chmod 700 \(path)"
        case .blobs(.unreadable, let path):
            "give the agent's user access: chown -R USER \(path)/blobs; chmod 700 \(path)/blobs"
        case .store(.foreignTail, _):
            "put the old identity.pem back, start the agent, stop it with SIGTERM, and remove the file again"
        case .store(.diskFull, _), .blobs(.diskFull, _): "free some space and start again"
        case .store, .blobs: "see the log for details"
        case .identity(let error): error.hint
        case .listen(let error): error.hint
        case .unfinishedRestore(let path):
            "let it finish, or do it again: lanyard restore FILE --force --data-dir \(path)"
        case .duplicateIdentity: Self.rekeyingHint
        case .blocked(let device): "To undo that: lanyard devices unblock \(device)"
        case .revoked: "let an admin's device invite it (`lanyard devices` lists them)"
        case .alreadyPairing: "finish that one, or stop it with Ctrl-C where it was typed"
        case .alreadyReloading: "wait until that is done, then: lanyard reload"
        case .roleTooGreat(_, .reader): "do it on a writer or an admin; `lanyard devices` lists them"
        case .roleTooGreat: "do it on an admin (`lanyard devices` lists them), or give the device a lesser role"
        case .untilPassed: "give a time that is still to come, such as --until 30d; if it is, set this device's clock"
        case .upgrading: "wait until it is done: lanyard status"
        case .stopping: "start it again: lanyardd"
        }
    }

    private static func words(_ role: MemberFact.Role) -> String {
        switch role {
        case .reader: "a reader"
        case .writer: "a writer"
        case .admin: "an admin"
        }
    }
}

extension AgentError {
    /// The steps that end two live holders of one key, on the machine that is the copy. Its data stays, and what only it holds
    /// is sent once it has joined.
    package static let rekeyingHint =
        "A disk or directory was copied. On the copy: stop its agent, remove identity.pem from its data directory, start it, "
        + "and `lanyard join` with a ticket of another device. Then start this device's agent again. Nothing is lost."
}
