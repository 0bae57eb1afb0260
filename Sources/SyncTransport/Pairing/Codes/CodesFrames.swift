import Foundation
import SwiftProtobuf
package import SyncModel

/// A frame of a pairing by typed codes, as bytes.
package enum CodesFrames {
    package enum Frame: Equatable {
        /// The bytes of a `CodesOffer`.
        case offer([UInt8])
        case message(PairingMessage)
    }

    package static func encode(_ frame: Frame) -> [UInt8] {
        let body: Lanyard_Pairing_V1_CodesFrame.OneOf_Body =
            switch frame {
            case .offer(let bytes): .offer(Data(bytes))
            case .message(.commitment(let bytes)): .commitment(Data(bytes))
            case .message(.answer(let bytes)): .answer(Data(bytes))
            case .message(.opening(let bytes)): .opening(Data(bytes))
            case .message(.confirmed): .confirmed(Lanyard_Pairing_V1_CodesConfirmed())
            case .message(.admitted): .admitted(Lanyard_Pairing_V1_CodesAdmitted())
            case .message(.ended(let reason)): .ended(.with { $0.code = reason.rawValue })
            }
        return bytes(of: Lanyard_Pairing_V1_CodesFrame.with { $0.body = body })
    }

    /// Nil for bytes that are no frame, one with a body this version does not know, or a value outside its limits.
    package static func decode(_ payload: [UInt8]) -> Frame? {
        guard let frame = try? Lanyard_Pairing_V1_CodesFrame(serializedBytes: payload), let body = frame.body else {
            return nil
        }
        switch body {
        case .offer(let bytes): return .offer(Array(bytes))
        case .commitment(let bytes): return hash(bytes).map { .message(.commitment($0)) }
        case .answer(let bytes): return hash(bytes).map { .message(.answer($0)) }
        case .opening(let bytes): return hash(bytes).map { .message(.opening($0)) }
        case .confirmed: return .message(.confirmed)
        case .admitted: return .message(.admitted)
        case .ended(let ended): return .message(.ended(PairingEnd(rawValue: ended.code) ?? .other))
        }
    }

    static func offer(_ introduction: Introduction, memberCount: UInt64, grant: MembershipGrant?) -> [UInt8] {
        bytes(
            of: Lanyard_Pairing_V1_CodesOffer.with {
                $0.introduction = introduction.message
                $0.members = memberCount
                if let grant { $0.grant = grant.message }
            })
    }

    /// Nil for bytes that are no offer, or fields outside their limits.
    ///
    /// - Parameter key: the DER of the key that TLS proved.
    static func readOffer(
        _ bytes: [UInt8], key: [UInt8]
    ) -> (introduction: Introduction, memberCount: UInt64, grant: MembershipGrant?)? {
        guard let offer = try? Lanyard_Pairing_V1_CodesOffer(serializedBytes: bytes),
            let introduction = Introduction(offer.introduction, subjectPublicKeyInfo: key)
        else { return nil }
        guard offer.hasGrant else { return (introduction, offer.members, nil) }
        guard let grant = MembershipGrant(offer.grant) else { return nil }
        return (introduction, offer.members, grant)
    }

    private static func hash(_ bytes: Data) -> [UInt8]? {
        bytes.count == PairingTranscript.nonceByteCount ? Array(bytes) : nil
    }

    private static func bytes(of message: some SwiftProtobuf.Message) -> [UInt8] {
        guard let bytes: [UInt8] = try? message.serializedBytes() else {
            preconditionFailure("a pairing frame has no required fields and no strings that are not UTF-8")
        }
        return bytes
    }
}
