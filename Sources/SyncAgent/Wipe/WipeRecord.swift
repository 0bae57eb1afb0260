package import Foundation
import SyncCore
package import SyncModel
import SyncStore
import SyncTransport

/// The note that a wipe leaves in the data directory: which statement asked for it, and when it was done.
package struct WipeRecord: Sendable, Hashable, Codable {
    /// The revocation, as `REPLICA:COUNTER`.
    package var statement: String
    /// The id of the device that wrote it.
    package var author: String
    /// The name of that device, as it was known here.
    package var authorName: String
    /// The clock of this device, milliseconds since 1970, when it was told; from the first start behind it on, when it was done.
    package var milliseconds: Int64
    /// The statements that were carried out here before, the newest last; at most `mostEarlier`.
    package private(set) var earlier: [String] = []

    /// The receipt for members of the space that was left; nil in a record of an earlier version.
    package private(set) var receipt: Receipt?

    private static let mostEarlier = 64
    private static let mostAddresses = 64
    private static let addressesPerDevice = 2
    /// The time after which devices that were not met are told no more.
    private static let patience: Int64 = 30 * 86_400_000

    /// The receipt for a wipe, and where the devices were met last that do not have it yet.
    package struct Receipt: Sendable, Hashable, Codable {
        /// `WipeReceipt`; until all is gone, one that is not signed.
        package fileprivate(set) var bytes: Data
        fileprivate(set) var isSigned = false
        package fileprivate(set) var addresses: [Address]
    }

    package struct Address: Sendable, Hashable, Codable {
        package let device: String
        package let host: String
        package let port: UInt16
    }

    package init(statement: Dot, authorName: String, milliseconds: Int64) {
        self.statement = "\(statement.replica):\(statement.counter)"
        author = "\(statement.replica.device)"
        self.authorName = authorName
        self.milliseconds = milliseconds
    }

    /// Returns the record with what is to be said to the devices that were met at these addresses.
    func telling(_ receipt: WipeReceipt, _ addresses: [PeerAddress]) -> WipeRecord {
        let newestFirst = addresses.filter { $0.device != nil }.sorted {
            ($0.lastConnectedMilliseconds ?? 0) > ($1.lastConnectedMilliseconds ?? 0)
        }
        let byDevice = Dictionary(grouping: newestFirst) { $0.device }.mapValues {
            Set($0.prefix(Self.addressesPerDevice))
        }
        let known = newestFirst.filter { byDevice[$0.device]?.contains($0) ?? false }.prefix(Self.mostAddresses)
        var record = self
        record.receipt = Receipt(
            bytes: Data(receipt.canonicalBytes),
            addresses: known.compactMap { address in
                address.device.map { Address(device: "\($0)", host: address.host, port: address.port) }
            })
        return record
    }

    /// Returns the record once a device has the receipt; nil if it was not waited for.
    func told(_ device: DeviceID) -> WipeRecord? {
        guard let receipt, receipt.addresses.contains(where: { $0.device == "\(device)" }) else { return nil }
        var record = self
        record.receipt?.addresses.removeAll { $0.device == "\(device)" }
        return record
    }

    /// Returns the record with the receipt signed, of this moment; nil if it is already, or there is none.
    func signed(by identity: DeviceIdentity, at milliseconds: Int64) -> WipeRecord? {
        guard let receipt, !receipt.isSigned, let draft = WipeReceipt(encoded: [UInt8](receipt.bytes)) else {
            return nil
        }
        var record = self
        record.milliseconds = milliseconds
        let signed = WipeReceipt(
            of: identity.deviceID, statement: draft.statement, milliseconds: milliseconds, in: .home,
            sign: identity.sign)
        record.receipt?.bytes = Data(signed.canonicalBytes)
        record.receipt?.isSigned = true
        return record
    }

    /// Returns the record without the receipt.
    var untold: WipeRecord {
        var record = self
        record.receipt = nil
        return record
    }

    /// Milliseconds for which the receipt is still brought; nil if it is not any more.
    func remaining(at milliseconds: Int64) -> Int64? {
        let (age, isOverflow) = milliseconds.subtractingReportingOverflow(self.milliseconds)
        guard receipt != nil, !isOverflow, age < Self.patience else { return nil }
        // A clock may have been set back.
        return Self.patience - max(age, 0)
    }

    /// Returns the receipt with the addresses at which it is to be brought; nil if all have it.
    func pending(at milliseconds: Int64) -> (receipt: WipeReceipt, addresses: [(DeviceID, Endpoint)])? {
        guard let receipt, receipt.isSigned, remaining(at: milliseconds) != nil,
            let signed = WipeReceipt(encoded: [UInt8](receipt.bytes))
        else { return nil }
        let addresses = receipt.addresses.compactMap { address in
            DeviceID(text: address.device).map { ($0, Endpoint(host: address.host, port: address.port)) }
        }
        return addresses.isEmpty ? nil : (signed, addresses)
    }

    /// Returns the record with the statements of an earlier one; nil if its statement was carried out already. A device that was
    /// admitted again learns of the old statement with all that the space holds.
    func following(_ last: WipeRecord?) -> WipeRecord? {
        guard let last else { return self }
        let done = last.earlier + [last.statement]
        guard !done.contains(statement) else { return nil }
        var record = self
        record.earlier = Array(done.suffix(Self.mostEarlier))
        return record
    }

    /// Nil if nothing was wiped there, or the record cannot be read.
    static func read(in directory: String) -> WipeRecord? {
        FileManager.default.contents(atPath: directory + "/" + StoreWipe.record)
            .flatMap { try? JSONDecoder().decode(WipeRecord.self, from: $0) }
    }

    /// Writes the record in place of the one that is there.
    func write(in directory: String) throws(StoreError) { try StoreWipe(in: directory).rewrite(encoded) }

    var encoded: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        return (try? encoder.encode(self)).map { [UInt8]($0) } ?? Array("{}".utf8)
    }
}
