import SyncStore
import Testing

@Suite struct ProcessMemoryTests {
    @Test func `the memory that holds keys can be kept from other processes`() { #expect(ProcessMemory.keepPrivate()) }
}
