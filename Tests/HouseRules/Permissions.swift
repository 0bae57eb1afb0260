/// What each part of Sources may import beside the standard library: a target is a permission.
/// The longest path that fits a file decides, so a folder or file can be allowed more, or less, than its target.
enum Permissions {
    static let table: [(path: String, modules: String)] = [
        // Pure: no clock, chance, logger, IO, threads.
        ("ReplicatedTypes", ""),
        ("ReplicatedTypes/Text/TextStorage.swift", "Synchronization"),
        ("SyncModel", "Crypto ReplicatedTypes"),
        ("SyncModel/Wire/FrameCodec.swift", "FoundationEssentials SwiftProtobuf"),
        ("SyncModel/Wire/Generated", "Foundation FoundationEssentials SwiftProtobuf"),
        ("SyncCore", "SyncModel"),
        ("ControlAPI", ""),
        // Adapters: each knows the model and its own technology, and no other adapter.
        ("SyncStore", "SyncModel CStore Crypto Dispatch Glibc Synchronization GRDB GRDBSQLite"),
        (
            "SyncTransport",
            "SyncModel Crypto Foundation FoundationEssentials Glibc Logging NIOCore NIOPosix NIOSSL NIOTLS SwiftProtobuf "
                + "Synchronization"
        ),
        // `stat` is attributed to CoreFoundation once Foundation is in the target.
        (
            "SyncTransport/Identity/IdentityFile.swift", "CoreFoundation Foundation Glibc"
        ),
        ("SyncDiscovery", "CAvahi Crypto Glibc Synchronization"),
        // Shells: they join what does not know each other.
        (
            "SyncAgent",
            "SyncModel SyncCore SyncStore SyncTransport SyncDiscovery Crypto Dispatch Foundation FoundationEssentials Glibc "
                + "Musl Logging NIOCore NIOPosix ServiceLifecycle Synchronization"
        ),
        (
            "ControlServer",
            "ControlAPI SyncAgent CPages Glibc HTTPTypes HummingbirdCore Logging NIOCore NIOPosix ServiceLifecycle "
                + "Synchronization"
        ),
        (
            "ControlServer/Adapter",
            "ControlAPI SyncAgent SyncModel SyncCore SyncStore SyncTransport SyncDiscovery Glibc Logging NIOCore "
                + "Synchronization"
        ),
        // A port is freed as that of the sessions is.
        (
            "ControlServer/Socket/OptionalListener.swift",
            "SyncAgent SyncTransport Glibc HummingbirdCore Logging NIOCore ServiceLifecycle"
        ),
        // The checksum of what leaves in one file.
        (
            "ControlServer/Backup",
            "ControlAPI SyncAgent Crypto Glibc HTTPTypes HummingbirdCore Logging NIOCore NIOPosix ServiceLifecycle"
        ),
        ("LanyardClient", "ControlAPI Dispatch Glibc Synchronization"),
        // Structs as objects. Foundation's coders and dates are those that applications know.
        ("Library", "LanyardClient ControlAPI FoundationEssentials Observation Synchronization"),
        // A disk that is slow holds up no task.
        ("Library/Files.swift", "ControlAPI Dispatch Glibc"),
        ("Testing", "Lanyard LanyardClient ControlAPI Foundation Glibc Synchronization"),
        ("Examples", "Lanyard"),
        // Output that does not wait in a buffer, and an exit code.
        ("Examples/LightSwitch/LightSwitch.swift", "Lanyard Glibc"),
        ("Examples/Todo/TodoProgram.swift", "Lanyard Glibc"),
        ("Examples/Plays/Plays.swift", "Lanyard Glibc"),
        // A file of its own, on the disk when it says so.
        ("Examples/Plays/CountsFile.swift", "Lanyard FoundationEssentials Glibc"),
        // Notes in a web page: small letters and a search by the C library, and a server in front of it.
        ("Examples/Notes", "Lanyard FoundationEssentials Glibc Synchronization"),
        (
            "Examples/Notes/Web",
            "Lanyard FoundationEssentials Glibc HTTPTypes HummingbirdCore Logging NIOCore NIOPosix ServiceLifecycle"
        ),
        ("lanyard", "LanyardClient ControlAPI ArgumentParser Dispatch Glibc Synchronization"),
        // The checksums of what is carried about in one file.
        ("lanyard/Backup", "LanyardClient ControlAPI ArgumentParser Crypto Glibc Synchronization"),
        ("lanyard/Export", "LanyardClient ControlAPI ArgumentParser Crypto Glibc"),
        (
            "lanyardd",
            "SyncAgent ControlServer ControlAPI ArgumentParser Foundation FoundationEssentials Glibc Logging NIOPosix "
                + "ServiceLifecycle Synchronization UnixSignals"
        ),
        // The world in one process: the code that ships, no technology.
        ("SyncSimulator", "SyncModel SyncCore SyncStore Crypto Synchronization"),
        // Checkers compare with the models that the laws are compared with.
        ("SyncSimulator/Ledger", "SyncModel SyncCore SyncStore LawHistories ReferenceModels"),
        ("SyncSimulator/Checkers", "SyncModel SyncCore SyncStore LawHistories ReferenceModels"),
        // SQLite on a file system of our own, and the directory that a store wants beside it.
        ("SyncSimulator/Disk/SimulatedDisk.swift", "SyncModel SyncStore CrashDisk Synchronization"),
        ("SyncSimulator/Disk/ScratchDirectory.swift", "Glibc"),
        ("lanyard-sim", "SyncSimulator ArgumentParser"),
    ]

    /// Of the tests: a model that judges a type must not lean on it.
    static let judges: [(path: String, modules: String)] = [
        ("Tests/ReferenceModels", ""),
        ("Tests/EndsModel", ""),
        ("Tests/LawHistories", "FoundationEssentials ReferenceModels SyncModel"),
    ]

    static func modules(for path: String) -> Set<Substring>? {
        (table.map { (path: "Sources/" + $0.path, modules: $0.modules) } + judges)
            .filter { path.hasPrefix($0.path + "/") || path == $0.path }
            .max { $0.path.count < $1.path.count }
            .map { Set($0.modules.split(separator: " ")) }
    }
}
