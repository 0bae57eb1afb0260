import Crypto
import ReplicatedTypes
import SyncModel
import Testing

/// The word of a device that it deleted what it held: who signed it, and how it is kept.
@Suite struct WipeReceiptTests {
    private let key = Curve25519.Signing.PrivateKey()
    private let device = DeviceID(bytes: [UInt8](repeating: 7, count: DeviceID.byteCount))!
    private let other = DeviceID(bytes: [UInt8](repeating: 8, count: DeviceID.byteCount))!
    private var publicKey: [UInt8] { Array(key.publicKey.rawRepresentation) }

    private func receipt(milliseconds: Int64 = 1_700_000_000_000) -> WipeReceipt {
        WipeReceipt(
            of: device, statement: Dot(replica: ReplicaID(device: other, incarnation: 3), counter: 300),
            milliseconds: milliseconds, in: .home
        ) { (try? key.signature(for: $0)).map { Array($0) } ?? [] }
    }

    @Test func `it counts for the device, the space and the key that signed it, and for no other`() throws {
        let receipt = receipt()
        #expect(receipt.isSigned(by: publicKey, of: device, in: .home))
        #expect(!receipt.isSigned(by: publicKey, of: other, in: .home))
        let elsewhere = try #require(SpaceID(bytes: [UInt8](repeating: 1, count: 16)))
        #expect(!receipt.isSigned(by: publicKey, of: device, in: elsewhere))
        let stranger = Array(Curve25519.Signing.PrivateKey().publicKey.rawRepresentation)
        #expect(!receipt.isSigned(by: stranger, of: device, in: .home))
        #expect(!receipt.isSigned(by: [], of: device, in: .home))
        var bytes = receipt.canonicalBytes
        bytes[bytes.count - 65] ^= 1
        var reader = ByteReader(bytes)
        let later = try WipeReceipt(reading: &reader)
        #expect(later.milliseconds != receipt.milliseconds)
        #expect(!later.isSigned(by: publicKey, of: device, in: .home))
    }

    @Test func `it is read back from the fields of an object, and nothing else is`() {
        let receipt = receipt(milliseconds: -5)
        #expect(WipeReceipt(receipt.fields) == receipt)
        func read(_ value: JSONValue) -> WipeReceipt? {
            WipeReceipt([JSONValue.Member(key: ExactString("receipt"), value: value)])
        }
        let text = receipt.canonicalBytes.hexadecimal
        #expect(read(.text(text)) == receipt)
        for other in [String(text.dropLast(2)), text + "00", text.uppercased(), "", "x"] {
            #expect(read(.text(other)) == nil)
        }
        #expect(read(.integer(1)) == nil && WipeReceipt([]) == nil)
        // A clock that no frame may say.
        #expect(WipeReceipt(self.receipt(milliseconds: .max).fields) == nil)
    }

    @Test func `objects that agents keep are told from those of people`() {
        #expect(WipeReceipt.key(of: device).isKeptByAgents)
        #expect(!ObjectKey(collection: ExactString("note"), id: ExactString("lanyard.receipts")).isKeptByAgents)
    }
}
