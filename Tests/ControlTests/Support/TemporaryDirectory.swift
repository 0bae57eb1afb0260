import Foundation

/// A directory of mode 0700 that is gone after the test; in memory where the machine has such a place, so that a store that syncs
/// every commit waits for no disk.
struct TemporaryDirectory: ~Copyable {
    let path: String

    init() throws {
        let place = access("/dev/shm", W_OK | X_OK) == 0 ? "/dev/shm" : "/tmp"
        var template = Array("\(place)/lanyard-test.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw CocoaError(.fileWriteUnknown) }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
