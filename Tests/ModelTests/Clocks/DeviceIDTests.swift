import SyncModel
import Testing

@Suite struct DeviceIDTests {
    private static func ids() -> [DeviceID] {
        var random = SeededGenerator(seed: 11)
        let edges: [[UInt8]] = [[UInt8](repeating: 0, count: 32), [UInt8](repeating: 255, count: 32)]
        return (edges + (0..<40).map { _ in random.bytes(32) }).map { DeviceID(bytes: $0)! }
    }

    @Test(arguments: ids()) func `the text form reads back, in either case and without hyphens`(id: DeviceID) {
        let text = id.description
        #expect(text.split(separator: "-").map(\.count) == [7, 7, 7, 7, 7, 7, 7, 7])
        #expect(DeviceID(text: text) == id)
        #expect(DeviceID(text: text.lowercased().replacing("-", with: "")) == id)
        #expect(text.hasPrefix(id.shortID) && id.shortID.count == 7)
        #expect(DeviceID(bytes: id.bytes) == id)
    }

    @Test(arguments: ids().prefix(12)) func `every single wrong character is caught`(id: DeviceID) {
        let characters = Array(id.description.utf8)
        for index in characters.indices where characters[index] != UInt8(ascii: "-") {
            for wrong in Base32.alphabet where wrong != characters[index] {
                var mistyped = characters
                mistyped[index] = wrong
                #expect(DeviceID(text: String(decoding: mistyped, as: UTF8.self)) == nil)
            }
        }
    }

    @Test(arguments: ids()) func `every swap of two neighbours is caught`(id: DeviceID) {
        let characters = Array(id.description.replacing("-", with: "").utf8)
        for index in characters.indices.dropLast() where characters[index] != characters[index + 1] {
            var swapped = characters
            swapped.swapAt(index, index + 1)
            #expect(DeviceID(text: String(decoding: swapped, as: UTF8.self)) == nil)
        }
    }

    @Test func `the swap that Luhn misses is caught`() {
        // A and 7 are the digits 0 and 31; doubling modulo 31 makes them alike.
        #expect(Base32.checkDigit(of: [0, 31]) != Base32.checkDigit(of: [31, 0]))
    }

    @Test func `text of another length or alphabet is no device`() {
        let text = DeviceID(bytes: [UInt8](repeating: 3, count: 32))!.description
        #expect(DeviceID(text: "") == nil)
        #expect(DeviceID(text: String(text.dropLast())) == nil)
        #expect(DeviceID(text: text + "A") == nil)
        #expect(DeviceID(text: "ü" + text.dropFirst()) == nil)
        #expect(DeviceID(text: "0" + text.dropFirst()) == nil)
    }

    @Test func `order is the order of the bytes`() {
        let ids = Self.ids().sorted()
        let bytes = Self.ids().map(\.bytes).sorted { $0.lexicographicallyPrecedes($1) }
        #expect(ids.map(\.bytes) == bytes)
    }

    @Test(arguments: 0..<40) func `base32 reads back for every length and refuses stray low bits`(count: Int) {
        var random = SeededGenerator(seed: UInt64(count))
        let bytes = random.bytes(count)
        let digits = Base32.digits(of: bytes)
        #expect(Base32.bytes(of: digits, count: count) == bytes)
        #expect(Base32.bytes(of: digits + [0], count: count) == nil)
        if count * 8 % 5 != 0 {
            var stray = digits
            stray[stray.count - 1] |= 1
            #expect(Base32.bytes(of: stray, count: count) == nil)
        }
    }

    @Test func `a replica id of another length is none`() {
        let replica = ReplicaID(device: Self.ids()[5], incarnation: 0x0102_0304_0506_0708)
        #expect(ReplicaID(bytes: replica.bytes) == replica)
        #expect(ReplicaID(bytes: replica.bytes.dropLast()) == nil)
        #expect(ReplicaID(bytes: replica.bytes + [0]) == nil)
        #expect(replica.description == replica.device.shortID + ".0102030405060708")
    }
}
