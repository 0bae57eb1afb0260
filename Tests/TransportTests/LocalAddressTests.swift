import NIOCore
import SyncTransport
import Testing

/// Which connections end with an interface.
@Suite struct LocalAddressTests {
    private let running: Set<[UInt8]> = [
        [127, 0, 0, 1], [10, 0, 0, 5], [0xFE, 0x80] + [UInt8](repeating: 7, count: 14),
    ]

    private func isGone(_ text: String) throws -> Bool {
        try #require(LocalAddress(try SocketAddress(ipAddress: text, port: 1))).isGone(from: running)
    }

    @Test(arguments: [
        ("10.0.0.5", false), ("10.0.0.6", true),
        // A socket of both families shows IPv4 addresses so.
        ("::ffff:10.0.0.5", false), ("::ffff:10.0.0.6", true),
        ("fe80:0707:0707:0707:0707:0707:0707:0707", false), ("fe80::1", true),
        // All of 127/8 is this machine, and only one of it stands on the interface.
        ("127.0.0.1", false), ("127.0.0.2", false), ("::1", false), ("::ffff:127.0.0.3", false),
    ])
    func `an address that is on no running interface is gone`(address: String, expected: Bool) throws {
        #expect(try isGone(address) == expected)
    }

    @Test func `what has no address of the network stays`() {
        #expect(LocalAddress(nil) == nil)
    }
}
