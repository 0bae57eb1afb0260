import Glibc

/// A directory in memory (tmpfs) that goes with the value: a store wants one. Nothing that is decided depends on its name.
final class ScratchDirectory: Sendable {
    let path: String

    /// Nil where there is no tmpfs that this process may write to.
    init?() {
        var template = Array("/dev/shm/lanyard-sim-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { return nil }
        path = String(decoding: template.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static func next(_ stream: OpaquePointer) -> String? {
        guard let entry = readdir(stream) else { return nil }
        let bytes = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
        return String(decoding: bytes, as: UTF8.self)
    }

    deinit { Self.remove(path) }

    private static func remove(_ path: String) {
        guard let stream = opendir(path) else { return }
        defer {
            closedir(stream)
            rmdir(path)
        }
        while let name = next(stream) {
            if name != ".", name != ".." { unlink(path + "/" + name) }
        }
    }
}
