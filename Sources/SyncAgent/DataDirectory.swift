import Crypto
import Foundation
import SyncModel
import SyncStore
import SyncTransport

/// The directory that holds all of an agent: keys, database, log. Mode 0700, owned by the agent's user.
enum DataDirectory {
    static func prepare(_ path: String) throws(AgentError) {
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw .directory(path: path, code: errno == 0 ? EIO : errno)
        }
        guard access(path, R_OK | W_OK | X_OK) == 0 else { throw .directory(path: path, code: errno) }
        // Half a backup is not to be taken for all of it, nor for a device that has no keys yet.
        guard access(path + "/restoring", F_OK) != 0 else { throw .unfinishedRestore(path: path) }
    }

    /// Returns true if `lanyard restore` filled the directory within a week: until then a device that was switched off may
    /// bring changes back.
    static func isRestored(_ path: String) -> Bool {
        var status = stat()
        guard stat(path + "/restored", &status) == 0 else { return false }
        return WallClock.milliseconds / 1_000 - Int64(status.st_mtim.tv_sec) < 7 * 86_400
    }

    /// The directories in which leases may be: a reboot empties them and no backup holds them. The store checks that.
    private static var leaseDirectories: [String] {
        let environment = ProcessInfo.processInfo.environment
        let runtime = environment["XDG_RUNTIME_DIR"].map { [$0 + "/lanyard"] } ?? []
        return (environment["RUNTIME_DIRECTORY"].map { [$0] } ?? []) + ["/run/lanyard"] + runtime
    }

    /// - Parameters:
    ///   - version: of this program.
    ///   - upgrading: called while the store of an older program is upgraded. Its tables may be those of that program
    ///     afterwards (`SQLiteStore.isUpgradePending`).
    static func openStore(
        _ path: String, identity: DeviceIdentity, version: String,
        upgrading: @escaping @Sendable (StoreUpgrade) -> Void
    ) throws(StoreError) -> SQLiteStore {
        let leases = leaseDirectories.lazy.compactMap { LeaseFolder(path: $0) }.first
        var configuration = SQLiteConfiguration(directory: path, leases: leases)
        configuration.clockAhead = { WallClock.aheadOfUptime }
        configuration.program = version
        configuration.readsBeforeUpgraded = true
        configuration.upgrading = upgrading
        return try SQLiteStore(
            configuration, device: identity.deviceID,
            incarnations: { incarnation() },
            sign: { identity.sign($0) })
    }

    /// Two runs of one memory image may draw the same random numbers, and read their clocks at different moments.
    private static func incarnation() -> UInt64 {
        var (wall, uptime) = (timespec(), timespec())
        clock_gettime(CLOCK_REALTIME, &wall)
        clock_gettime(CLOCK_BOOTTIME, &uptime)
        var hash = SHA256()
        for part in [Int.random(in: .min ... .max), wall.tv_sec, wall.tv_nsec, uptime.tv_sec, uptime.tv_nsec] {
            withUnsafeBytes(of: part) { hash.update(bufferPointer: $0) }
        }
        return hash.finalize().withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
    }

    /// Finishes a wipe that was begun there, before anything is opened. Does nothing otherwise.
    static func finishWipe(_ path: String, of device: DeviceID) throws(AgentError) {
        do throws(StoreError) {
            try StoreWipe(in: path).finish(
                leasesOf: device, in: leaseDirectories.compactMap { LeaseFolder(path: $0) })
        } catch {
            throw .store(error, directory: path)
        }
    }

    /// The folder of large blobs, beside the database.
    static func openBlobs(_ path: String, in store: SQLiteStore) throws(BlobError) -> BlobStore {
        var configuration = BlobConfiguration(
            run: UInt64.random(in: .min ... .max), now: { WallClock.milliseconds })
        do throws(StoreError) {
            configuration.quotaBytes = try store.quota(of: .home)
        } catch {
            throw .store(error)
        }
        return try BlobStore(
            store, files: PosixBlobFiles(folder: path + "/blobs"), needs: RecordNeeds(store), configuration)
    }
}
