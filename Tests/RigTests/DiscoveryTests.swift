import Testing

@Suite struct DiscoveryTests {
    @Test func `a b c`() { #expect(1 + 1 == 2) }
}
