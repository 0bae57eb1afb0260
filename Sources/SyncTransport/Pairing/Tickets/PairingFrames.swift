import Foundation
import SwiftProtobuf
import SyncModel

/// A frame of a join by ticket, as bytes.
enum PairingFrames {
    typealias Body = Lanyard_Pairing_V1_PairingFrame.OneOf_Body

    static func encode(_ body: Body) -> [UInt8] {
        let frame = Lanyard_Pairing_V1_PairingFrame.with { $0.body = body }
        guard let bytes: [UInt8] = try? frame.serializedBytes() else {
            preconditionFailure("a pairing frame has no required fields and no strings that are not UTF-8")
        }
        return bytes
    }

    /// Nil for bytes that are no frame, or one with a body this version does not know.
    static func decode(_ payload: [UInt8]) -> Body? {
        (try? Lanyard_Pairing_V1_PairingFrame(serializedBytes: payload))?.body
    }
}
