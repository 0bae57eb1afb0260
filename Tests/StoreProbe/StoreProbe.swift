import Crypto
import Glibc
import SyncModel
import SyncStore

/// A process around one store, for tests that must watch or kill a process: `append` is run under strace and killed,
/// `figures` and `blob-figures` (COUNT is the size of a large blob in MiB) measure.
@main
enum StoreProbe {
    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count >= 4, let count = Int(arguments[3]) else {
            print("usage: StoreProbe append|append-unsynced|figures|blob-figures DIRECTORY COUNT")
            exit(2)
        }
        switch arguments[1] {
        case "append": try append(count, in: arguments[2], faults: [])
        case "append-unsynced": try append(count, in: arguments[2], faults: .commitWithoutSync)
        case "figures": try Figures(directory: arguments[2], eventCount: count).run()
        case "blob-figures": try BlobFigures(directory: arguments[2], megabytes: count).run()
        case let other:
            print("unknown command \(other)")
            exit(2)
        }
    }

    /// Appends one event at a time and says of each when it was acknowledged.
    private static func append(_ count: Int, in directory: String, faults: StoreFaults) throws {
        let store = try ProbeDevice.open(directory, number: 1, faults: faults)
        print("synchronous \(try store.synchronousLevel())")
        for index in 0..<count {
            let event = Operation.Event(stream: "probe", type: nil, payload: Array("\(index)".utf8))
            let commit = try store.append([[.appendEvent(event)]], wallMilliseconds: 1)
            print("acknowledged \(commit.lastPosition)")
            fflush(nil)
        }
        // No `close`: a process that is watched ends like one that was killed.
        _exit(0)
    }
}

enum ProbeDevice {
    static func open(_ directory: String, number: UInt8, faults: StoreFaults = []) throws -> SQLiteStore {
        let seed = [UInt8](repeating: number, count: 32)
        let key = try Curve25519.Signing.PrivateKey(rawRepresentation: seed)
        guard let device = DeviceID(bytes: seed) else { preconditionFailure("32 bytes are an id") }
        return try SQLiteStore(
            SQLiteConfiguration(directory: directory, leases: nil), device: device, faults: faults,
            incarnations: { UInt64.random(in: .min ... .max) },
            sign: { message in (try? key.signature(for: message)).map { Array($0) } ?? [] })
    }

    static func signingKey(_ number: UInt8) throws -> [UInt8] {
        let key = try Curve25519.Signing.PrivateKey(rawRepresentation: [UInt8](repeating: number, count: 32))
        return Array(key.publicKey.rawRepresentation)
    }
}
