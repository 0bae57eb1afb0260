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

extension MemberFact.Role {
    init(_ role: Role) {
        switch role {
        case .reader: self = .reader
        case .writer: self = .writer
        case .admin: self = .admin
        }
    }
}
