import Foundation
import SwiftProtobuf
package import SyncModel

/// The membership that a device gives another one in a pairing.
///
/// It comes from the device whose key TLS proved: the one that made the ticket, or the one whose codes were typed. So it needs no
/// proof of its own.
package struct MembershipGrant: Hashable, Sendable {
    /// The role that the guest gets.
    package let role: MemberFact.Role
    /// The founder that the host follows; nil if it does not say.
    package let founder: DeviceID?

    package init(role: MemberFact.Role, founder: DeviceID?) {
        self.role = role
        self.founder = founder
    }

    /// Nil for a role that this version does not know and for a founder that is no device id.
    init?(_ message: Lanyard_Pairing_V1_Grant) {
        guard let role = MemberFact.Role(rawValue: UInt64(message.role)) else { return nil }
        self.role = role
        if message.founder.isEmpty {
            founder = nil
        } else {
            guard let founder = DeviceID(bytes: Array(message.founder)) else { return nil }
            self.founder = founder
        }
    }

    var message: Lanyard_Pairing_V1_Grant {
        .with {
            $0.role = UInt32(role.rawValue)
            if let founder { $0.founder = Data(founder.bytes) }
        }
    }
}
