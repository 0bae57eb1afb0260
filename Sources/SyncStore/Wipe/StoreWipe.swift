import Glibc
package import SyncModel

/// Deletes what a data directory holds, but for the device's identity: for a device that is told so.
///
/// A marker comes first. It becomes the record of the wipe by being renamed, durably, once everything is gone. So a wipe that was
/// cut short is known at the next start, and is finished before anything is opened; doing a step again changes nothing.
///
/// What stays: the identity, the agent's own log, the lock, sockets and configuration files.
package struct StoreWipe: Sendable {
    private static let marker = "wiping.json"
    /// The name of the record that a wipe leaves behind.
    package static let record = "wiped.json"
    private static let kept: Set<String> = [
        "identity.pem", "agent.lock", "agent.log", "agent.log.1", marker, record,
    ]
    /// Another thread may still write a file that it had begun: so often everything is looked at again.
    private static let passes = 8

    private let directory: String

    package init(in directory: String) { self.directory = directory }

    /// True from `begin` on until `finish` is done.
    package var isBegun: Bool { access(directory + "/" + Self.marker, F_OK) == 0 }

    /// Writes the marker. When it returns, the wipe happens, whatever becomes of the process.
    ///
    /// - Parameter record: what to keep of the wipe: which statement asked for it, and when.
    package func begin(_ record: [UInt8]) throws(StoreError) { try write(record, Self.marker) }

    /// Replaces the record that a wipe left.
    package func rewrite(_ record: [UInt8]) throws(StoreError) { try write(record, Self.record) }

    private func write(_ record: [UInt8], _ name: String) throws(StoreError) {
        let (path, draft) = (directory + "/" + name, directory + "/" + name + ".new")
        let descriptor = Glibc.open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw StoreFiles.failure(at: draft) }
        defer { Glibc.close(descriptor) }
        let count = record.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
        guard count == record.count, fsync(descriptor) == 0, rename(draft, path) == 0 else {
            throw StoreFiles.failure(at: draft)
        }
        try WipedFolder(at: directory).sync()
    }

    /// Deletes everything that a wipe takes, and turns the marker into the record. Does nothing unless a wipe was begun. The
    /// store in the directory is closed.
    ///
    /// - Throws: `locked` while an agent runs there; `unreadable` for a file that cannot be removed: the others are gone by
    ///   then, and the marker stays.
    package func finish(leasesOf device: DeviceID, in folders: [LeaseFolder]) throws(StoreError) {
        guard isBegun else { return }
        let lock = try AgentLock(directory: directory)
        defer { lock.release() }
        for folder in folders { folder.discard(of: device) }
        let folder = try WipedFolder(at: directory)
        var left: String?
        for _ in 0..<Self.passes {
            left = folder.removeAll { name, isSocket in
                isSocket || Self.kept.contains(name) || name.hasSuffix(".toml")
            }
            if left == nil { break }
        }
        if let left { throw .unreadable(path: directory + "/" + left, code: errno) }
        try folder.sync()
        guard rename(directory + "/" + Self.marker, directory + "/" + Self.record) == 0 else {
            throw StoreFiles.failure(at: directory + "/" + Self.record)
        }
        try folder.sync()
    }
}

extension LeaseFolder {
    /// Removes the leases of all replicas of a device.
    fileprivate func discard(of device: DeviceID) {
        guard let stream = opendir(path) else { return }
        defer { closedir(stream) }
        let beginning = device.bytes.hexadecimal
        while let entry = readdir(stream) {
            let name = entry.pointee.name
            if name.hasPrefix(beginning), name.hasSuffix(".lease") { unlink(path + "/" + name) }
        }
    }
}
