import SyncDiscovery
import Testing

/// Whatever strangers put on the network is at worst useless.
@Suite struct HintsTests {
    @Test func `text is read leniently and never more than it says`() {
        let good = DiscoveryText(strings: bytes("v=1", "t=0011223344556677"))
        #expect(good == DiscoveryText(version: 1, tag: [0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77]))
        #expect(DiscoveryText(strings: bytes(good.strings[0], good.strings[1])) == good)
        #expect(DiscoveryText(strings: bytes("V=2", "x=y", "")) == DiscoveryText(version: 2, tag: nil))
        #expect(DiscoveryText(strings: bytes("v=1", "v=7")).version == 1)
    }

    @Test(arguments: [
        "t=", "t=0", "t=00112233445566", "t=001122334455667788", "t=00112233445566zz", "t=0011223344556677 ", "v=",
        "v=-1",
        "v=99999999999999999999", "v", "=", "t", "v=1x", "t=\u{0}\u{0}", "t=ÀÀÀÀÀÀÀÀ",
    ])
    func `text that makes no sense is left out`(_ text: String) {
        #expect(DiscoveryText(strings: bytes(text)) == DiscoveryText(version: nil, tag: nil))
    }

    @Test func `any bytes at all are text that says little`() {
        var generator = SystemRandomNumberGenerator()
        let tags = (0..<1_000).compactMap { _ in
            let strings = (0..<Int.random(in: 0...40, using: &generator)).map { _ in
                (0..<Int.random(in: 0...80, using: &generator)).map { _ in
                    UInt8.random(in: .min ... .max, using: &generator)
                }
            }
            return DiscoveryText(strings: strings).tag
        }
        #expect(tags.allSatisfy { $0.count == DiscoveryTag.byteCount })
    }

    @Test func `names that could act on a terminal are refused`() {
        #expect(RecordFilter.accepts(instance: "355f7eebb5a4c661"))
        #expect(RecordFilter.accepts(instance: "Küche #2"))
        for name in ["", "\u{1B}[2J", "a\nb", "\u{202E}txt", String(repeating: "a", count: 64), "\u{FFFD}"] {
            #expect(!RecordFilter.accepts(instance: name), "\(name.unicodeScalars.map(\.value))")
        }
        #expect(RecordFilter.accepts(hostName: "machine-1.local"))
        for name in ["", "a b", "a;b", "$(reboot)", "\u{1B}[2J", String(repeating: "a", count: 256)] {
            #expect(!RecordFilter.accepts(hostName: name))
        }
    }

    @Test func `only addresses a neighbour may have become host text`() {
        func text(_ address: String) -> String? {
            RecordFilter.bytes(ofAddress: address).flatMap { RecordFilter.hostText(address: $0, interfaceName: "lan0") }
        }
        #expect(text("192.168.1.7") == "192.168.1.7")
        #expect(text("fe80::1") == "fe80::1%lan0")
        #expect(text("2001:db8::7") == "2001:db8::7")
        #expect(text("fd00::7") == "fd00::7")
        for address in [
            "127.0.0.1", "0.0.0.0", "224.0.0.1", "255.255.255.255", "::", "::1", "ff02::1", "::ffff:127.0.0.1",
        ] {
            #expect(text(address) == nil, "\(address)")
        }
        #expect(RecordFilter.bytes(ofAddress: "example.org") == nil)
        #expect(
            RecordFilter.hostText(address: [0xFE, 0x80] + [UInt8](repeating: 0, count: 14), interfaceName: "") == nil)
        #expect(RecordFilter.hostText(address: [1, 2, 3], interfaceName: "lan0") == nil)
    }

    @Test func `container bridges are told from bridges people made`() {
        for name in ["docker0", "br-0123456789ab", "podman1", "cni-podman0", "veth1a2b", "virbr0", "lxcbr0"] {
            #expect(NetworkInterfaces.isContainerBridge(name), "\(name)")
        }
        for name in ["eth0", "enp3s0", "wlan0", "br0", "br-lan", "br-0123456789xy", "bond0", "lan0"] {
            #expect(!NetworkInterfaces.isContainerBridge(name), "\(name)")
        }
    }

    @Test func `the back-off doubles from a quarter of a second to five`() {
        var backOff = BackOff()
        #expect((0..<7).map { _ in backOff.next() / 1_000_000 } == [250, 500, 1000, 2000, 4000, 5000, 5000])
        backOff.reset()
        #expect(backOff.next() == BackOff.leastNanoseconds)
    }

    @Test func `every trouble says what to do`() {
        for trouble in DiscoveryTrouble.allCases {
            #expect(!trouble.message.isEmpty && !trouble.hint.isEmpty && trouble.rawValue.hasPrefix("mdns_"))
        }
    }

    private func bytes(_ strings: String...) -> [[UInt8]] { strings.map { Array($0.utf8) } }
}
