import Crypto
import ReplicatedTypes

/// A key of daily tags that an admin's agent made after a revocation. It is an object of the space, one for each such device, and so
/// comes to every member and to no device that is out.
package struct DiscoveryKey: Hashable, Sendable {
    package static let byteCount = 32
    package static let collection = ExactString("lanyard.discovery")
    /// The number of earlier keys that are kept, so that a member that was away is recognised.
    private static let mostEarlier = 64

    package let bytes: [UInt8]
    /// The exclusions that its author knew when it made the key.
    package let exclusions: Exclusions
    /// The keys that the same device made before, the newest first.
    package let earlier: [[UInt8]]

    /// The devices that are out, with all that was said of the roles of each, as one hash: one that was admitted again, by a statement
    /// that counts or not, may have learned every key since.
    package struct Exclusions: Hashable, Sendable {
        fileprivate let bytes: [UInt8]

        /// - Parameter statements: the places of all statements on each device that is out.
        package init(_ statements: [DeviceID: [Dot]]) {
            var text: [UInt8] = []
            for (device, dots) in statements.sorted(by: { $0.key < $1.key }) {
                text += Array(device.bytes.hexadecimal.utf8)
                for dot in dots.sorted() { text += Array(" \(dot.replica.bytes.hexadecimal):\(dot.counter)".utf8) }
                text.append(UInt8(ascii: "\n"))
            }
            bytes = Array(SHA256.hash(data: text))
        }

        fileprivate init?(hexadecimal text: String) {
            guard let bytes = Hex.bytes(text), bytes.count == SHA256.byteCount else { return nil }
            self.bytes = bytes
        }
    }

    /// A key as it is kept.
    package struct Kept: Hashable, Sendable {
        package let key: DiscoveryKey
        /// True if the device whose object it is wrote to it last.
        package let isByOwner: Bool

        package init(key: DiscoveryKey, isByOwner: Bool) {
            self.key = key
            self.isByOwner = isByOwner
        }
    }

    /// - Parameter former: the key that the same device made before.
    package init(bytes: [UInt8], exclusions: Exclusions, after former: DiscoveryKey? = nil) {
        self.bytes = bytes
        self.exclusions = exclusions
        earlier = Array((former.map { [$0.bytes] + $0.earlier } ?? []).prefix(Self.mostEarlier))
    }

    /// The object with the key that a device made.
    package static func objectKey(of device: DeviceID) -> ObjectKey {
        ObjectKey(collection: collection, id: ExactString("\(device)"))
    }

    package var fields: [JSONValue.Member] {
        func field(_ name: String, _ text: String) -> JSONValue.Member {
            JSONValue.Member(key: ExactString(name), value: .text(text))
        }
        return [
            field("key", bytes.hexadecimal), field("exclusions", exclusions.bytes.hexadecimal),
            field("earlier", earlier.map(\.hexadecimal).joined(separator: " ")),
        ]
    }

    /// Nil for fields that no node wrote so.
    package init?(_ fields: [JSONValue.Member]) {
        func text(_ name: String) -> String? {
            guard case .string(let text)? = fields.first(where: { $0.key == ExactString(name) })?.value,
                text.string.utf8.count <= Self.mostEarlier * (2 * Self.byteCount + 1)
            else { return nil }
            return text.string
        }
        func key(_ text: some StringProtocol) -> [UInt8]? {
            Hex.bytes(String(text)).flatMap { $0.count == Self.byteCount ? $0 : nil }
        }
        guard let bytes = text("key").flatMap(key), let earlier = text("earlier")?.split(separator: " ").map(key),
            let exclusions = text("exclusions").flatMap(Exclusions.init(hexadecimal:))
        else { return nil }
        self.bytes = bytes
        self.exclusions = exclusions
        self.earlier = earlier.compactMap(\.self)
    }
}

/// The keys by which members know each other's records: which one to announce with, and which to recognise.
package struct DiscoveryKeys: Hashable, Sendable {
    /// The key to announce with: the least that was made with the exclusions of now. While there is none, the one of before, else the
    /// least of those that were made, and without any the least of the members' own. Nil without members.
    package let announced: [UInt8]?
    /// All of them: members hear of a new key one after the other.
    package let recognised: Set<[UInt8]>
    /// True if a device that is out may know every key.
    package let isStale: Bool

    /// - Parameters:
    ///   - own: those that the members' add-facts name.
    ///   - made: those that agents of admins made that are in.
    ///   - former: those of other devices: only recognised.
    ///   - before: the key that was announced until now.
    ///   - exclusions: of now; nil: no device is out.
    ///   - forgetsTag: plants the bug that a revocation changes nothing (`AgentFaults.forgetTag`).
    package init(
        own: [[UInt8]], made: [DiscoveryKey], former: [DiscoveryKey] = [], before: [UInt8]? = nil,
        exclusions: DiscoveryKey.Exclusions?, forgetsTag: Bool = false
    ) {
        let exclusions = forgetsTag ? nil : exclusions
        let fresh = made.filter { $0.exclusions == exclusions }
        func least(_ keys: [[UInt8]]) -> [UInt8]? { keys.min { $0.lexicographicallyPrecedes($1) } }
        if exclusions == nil {
            announced = least(own)
        } else if let key = least(fresh.map(\.bytes)) {
            announced = key
        } else {
            announced = made.first { $0.bytes == before }?.bytes ?? least(made.map(\.bytes)) ?? least(own)
        }
        recognised = Set(own + (made + former).flatMap { [$0.bytes] + $0.earlier })
        isStale = exclusions != nil && fresh.isEmpty
    }
}
