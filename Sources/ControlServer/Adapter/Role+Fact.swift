import ControlAPI
import SyncModel

extension Role {
    init(_ role: MemberFact.Role) {
        switch role {
        case .reader: self = .reader
        case .writer: self = .writer
        case .admin: self = .admin
        }
    }
}

extension Timestamp {
    /// The moment so many seconds after the epoch.
    init(secondsSinceEpoch seconds: UInt64) {
        self.init(millisecondsSinceEpoch: Int64(min(seconds, UInt64(Int64.max / 1_000))) * 1_000)
    }

    /// The whole seconds since the epoch, for a fact; 0 before it.
    var secondsSinceEpoch: UInt64 { UInt64(max(0, millisecondsSinceEpoch / 1_000)) }
}

extension MemberFact.Role {
    init(_ role: Role) {
        switch role {
        case .reader: self = .reader
        case .writer: self = .writer
        case .admin: self = .admin
        }
    }
}
