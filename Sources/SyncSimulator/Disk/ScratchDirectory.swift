import Glibc

/// A directory in memory (tmpfs) that goes with the value: an SQLite store wants one. What is in it decides nothing that
/// depends on its name.
package final class ScratchDirectory: Sendable {
    let path: String

    /// Nil where there is no tmpfs that this process may write to.
    package init?() {
        var template = Array("/dev/shm/lanyard-sim-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { return nil }
        path = String(decoding: template.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Returns a copy of its files as they are now, without locks and without files that only map others.
    func copy() -> ScratchDirectory? {
        guard let copy = ScratchDirectory(), let stream = opendir(path) else { return nil }
        defer { closedir(stream) }
        while let name = Self.next(stream) {
            guard name.hasSuffix(".sqlite") || name.hasSuffix("-wal") else { continue }
            guard let bytes = Self.read(path + "/" + name), Self.write(bytes, to: copy.path + "/" + name) else {
                return nil
            }
        }
        return copy
    }

    private static func read(_ path: String) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        let count = bytes.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
        return count == bytes.count ? bytes : nil
    }

    private static func write(_ bytes: [UInt8], to path: String) -> Bool {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) } == bytes.count
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
