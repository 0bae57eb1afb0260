// swift-tools-version: 6.2
import PackageDescription

/// Settings every target shares. A warning that is worth reading is worth fixing, so warnings are errors.
let common: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

/// Pure targets hold decisions and formats: no clock, chance, logger, IO or `async`. They are also memory-safe by the compiler's word.
let pure: [SwiftSetting] = common + [.strictMemorySafety()]

/// Tests are compiled without optimisation: it took more than half of their time to build, and what they run is optimised.
let tests: [SwiftSetting] = common + [.unsafeFlags(["-Onone"])]

/// A product of another package, which only the agent, the command and their tests need. An application that asks for this
/// package with `traits: []` gets the library for applications alone, and the package manager fetches nothing else.
func agent(_ product: String, _ package: String) -> Target.Dependency {
    .product(name: product, package: package, condition: .when(traits: ["Agent"]))
}

let nio = agent("NIOCore", "swift-nio")
let nioPosix = agent("NIOPosix", "swift-nio")
let crypto = agent("Crypto", "swift-crypto")
let logging = agent("Logging", "swift-log")
let arguments = agent("ArgumentParser", "swift-argument-parser")

let package = Package(
    name: "lanyard",
    products: [
        .library(name: "LanyardClient", targets: ["LanyardClient", "ControlAPI"]),
        // Structs as objects and events: what most applications want.
        .library(name: "Lanyard", targets: ["Lanyard", "ControlAPI"]),
        // Several agents in a test.
        .library(name: "LanyardTesting", targets: ["LanyardTesting"]),
        // Replicated types on their own: values that several replicas change apart and that merge. The target has no
        // dependencies, so an application that wants nothing else builds in seconds.
        .library(name: "ReplicatedTypes", targets: ["ReplicatedTypes"]),
        .executable(name: "lanyardd", targets: ["lanyardd"]),
        .executable(name: "lanyard", targets: ["lanyard"]),
        .executable(name: "lanyard-sim", targets: ["lanyard-sim"]),
    ],
    traits: [
        .default(enabledTraits: ["Agent"]), .trait(name: "Agent", description: "The agent and the command lanyard."),
    ],
    dependencies: [
        // Sockets, TLS and keys: written and reviewed by people who do nothing else.
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/apple/swift-crypto", "3.12.3"..<"5.0.0"),
        // SQLite with a pool of readers and one writer, proven on many devices.
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        // The control API's HTTP server, of which only the core is used: its traits bring a reader of configurations and
        // Foundation's URLs.
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.0.0", traits: []),
        // Command lines, logs, and a clean stop.
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        // Session frames: a format with rules for growing, read by every language. None of its traits: nothing here uses
        // them, and the package manager hands two of them to the compiler in random order, so that every other build
        // compiles the package, and all that depends on it, again.
        .package(url: "https://github.com/apple/swift-protobuf", from: "1.39.0", traits: []),
    ],
    targets: [
        // Applications build it alone, so it depends on nothing; `Tests/HouseRules` checks that.
        .target(name: "ReplicatedTypes", swiftSettings: common),
        .target(
            name: "SyncModel",
            dependencies: ["ReplicatedTypes", crypto, agent("SwiftProtobuf", "swift-protobuf")],
            exclude: ["Wire/frames.proto", "Wire/pairing.proto"], swiftSettings: common),
        .target(name: "SyncCore", dependencies: ["SyncModel"], swiftSettings: pure),
        .target(
            name: "SyncStore",
            dependencies: [
                "SyncModel", "CStore", crypto, agent("GRDB", "GRDB.swift"),
                agent("GRDBSQLite", "GRDB.swift"),
            ], resources: [.embedInCode("Schema")], swiftSettings: common),
        // What Swift cannot call of SQLite (variadic) and the kernel's interface (statfs).
        .target(name: "CStore", linkerSettings: [.linkedLibrary("sqlite3")]),
        .target(
            name: "SyncTransport",
            dependencies: [
                "SyncModel", nio, nioPosix, crypto, logging,
                agent("NIOSSL", "swift-nio-ssl"),
                agent("NIOTLS", "swift-nio"),
                agent("SwiftProtobuf", "swift-protobuf"),
            ], swiftSettings: common),
        // Its module map names the libraries. With pkg-config every build, also that of an application, warned of a flag.
        .systemLibrary(name: "CAvahi", providers: [.apt(["libavahi-client-dev"])]),
        .target(name: "SyncDiscovery", dependencies: ["CAvahi", crypto], swiftSettings: common),
        .target(
            name: "SyncAgent",
            dependencies: [
                "SyncModel", "SyncCore", "SyncStore", "SyncTransport", "SyncDiscovery", nio, nioPosix, crypto, logging,
                agent("ServiceLifecycle", "swift-service-lifecycle"),
            ], swiftSettings: common),
        .target(name: "ControlAPI", swiftSettings: pure),
        .target(
            name: "ControlServer",
            dependencies: [
                "SyncAgent", "ControlAPI", "CPages", nio, nioPosix, logging, crypto,
                agent("HummingbirdCore", "hummingbird"),
                agent("HTTPTypes", "swift-http-types"),
                agent("ServiceLifecycle", "swift-service-lifecycle"),
            ], exclude: ["OpenAPI/openapi.json", "Dashboard/Page"], swiftSettings: common),
        // The files of the dashboard, and the OpenAPI document, as bytes of the program.
        .target(name: "CPages"),
        // No packages: an application that links it builds in half a minute.
        .target(name: "LanyardClient", dependencies: ["ControlAPI"], swiftSettings: common),
        // Its folder is not called as the target is: on a file system that ignores case it would be the command's.
        .target(
            name: "Lanyard", dependencies: ["LanyardClient", "ControlAPI"], path: "Sources/Library",
            swiftSettings: common),
        .executableTarget(
            name: "lanyardd",
            dependencies: [
                "ControlServer", "ControlAPI", "SyncAgent", nioPosix, arguments, logging,
                agent("ServiceLifecycle", "swift-service-lifecycle"),
                agent("UnixSignals", "swift-service-lifecycle"),
            ], swiftSettings: common),
        .executableTarget(
            name: "lanyard", dependencies: ["LanyardClient", "ControlAPI", crypto, arguments],
            swiftSettings: common),
        .target(
            name: "LanyardTesting", dependencies: ["Lanyard", "LanyardClient", "ControlAPI"], path: "Sources/Testing",
            swiftSettings: common),
        // The program that the documents show; a test holds both to each other and runs it in a rig.
        .executableTarget(
            name: "ten-lines", dependencies: ["Lanyard"], path: "Sources/Examples/TenLines", swiftSettings: common),
        // Small applications, each with a page that says what it shows, and a story in the rig.
        .executableTarget(
            name: "light-switch", dependencies: ["Lanyard"], path: "Sources/Examples/LightSwitch",
            exclude: ["README.md"], swiftSettings: common),
        .executableTarget(
            name: "todo", dependencies: ["Lanyard"], path: "Sources/Examples/Todo", exclude: ["README.md"],
            swiftSettings: common),
        .executableTarget(
            name: "plays", dependencies: ["Lanyard"], path: "Sources/Examples/Plays", exclude: ["README.md"],
            swiftSettings: common),
        // A web page in front of the library, by the packages that the agent has already.
        .executableTarget(
            name: "notes",
            dependencies: [
                "Lanyard", nio, nioPosix, logging,
                agent("HummingbirdCore", "hummingbird"),
                agent("HTTPTypes", "swift-http-types"),
                agent("ServiceLifecycle", "swift-service-lifecycle"),
            ], path: "Sources/Examples/Notes", exclude: ["README.md", "page.png"], resources: [.embedInCode("Page")],
            swiftSettings: common),
        .target(
            name: "SyncSimulator",
            dependencies: [
                "SyncModel", "SyncCore", "SyncStore", "LawHistories", "ReferenceModels", "CrashDisk", crypto,
            ],
            swiftSettings: common),
        .executableTarget(name: "lanyard-sim", dependencies: ["SyncSimulator", arguments], swiftSettings: common),
        .testTarget(
            name: "ModelTests", dependencies: ["SyncModel", "LawHistories", crypto], swiftSettings: tests),
        .testTarget(
            name: "CoreTests",
            // The version, and the frames of a pairing by codes, for what is recorded of each version.
            dependencies: [
                "SyncCore", "SyncModel", "SyncSimulator", "SyncStore", "SyncTransport", "ControlAPI", "LawHistories",
            ],
            swiftSettings: tests),
        .testTarget(
            name: "SimulatorTests", dependencies: ["SyncSimulator", "SyncModel", "SyncStore", "LawHistories"],
            swiftSettings: tests),
        // What replicated values should show, from their bare operations: imports nothing, so it cannot lean on what it
        // judges. With what makes histories plain for it, it judges what the simulator's nodes show, too.
        .target(name: "ReferenceModels", path: "Tests/ReferenceModels", swiftSettings: pure),
        .target(
            name: "LawHistories", dependencies: ["SyncModel", "ReferenceModels"], path: "Tests/LawHistories",
            swiftSettings: common),
        .executableTarget(
            name: "LawProbe", dependencies: ["LawHistories"], path: "Tests/LawProbe", swiftSettings: common),
        .testTarget(
            name: "LawTests", dependencies: ["LawHistories", "LawProbe", "SyncModel", "ReferenceModels"],
            swiftSettings: tests),
        // The rules of membership and of ends as models: they import nothing, so they cannot lean on what they judge.
        .target(name: "EndsModel", path: "Tests/EndsModel", swiftSettings: pure),
        .executableTarget(
            name: "ends-model", dependencies: ["EndsModel"], path: "Tests/EndsModelProbe", swiftSettings: common),
        .testTarget(
            name: "EndsModelTests", dependencies: ["EndsModel", "SyncModel"], exclude: ["Fixtures"],
            swiftSettings: tests),
        // Our half of `deploy/bench text`.
        .executableTarget(
            name: "TextRace", dependencies: ["ReplicatedTypes"], path: "Tests/Benchmarks/TextRace",
            swiftSettings: common),
        .testTarget(name: "HouseRules", swiftSettings: tests),
        // Real agents in network namespaces, through deploy/rig: needs root, so it only runs when deploy/test asks.
        .testTarget(name: "RigTests", swiftSettings: tests),
        // Discovery, driven by hand: what DiscoveryTests put on a wire.
        .executableTarget(
            name: "DiscoveryProbe", dependencies: ["SyncDiscovery"], path: "Tests/DiscoveryProbe",
            swiftSettings: common),
        .testTarget(
            name: "DiscoveryTests", dependencies: ["SyncDiscovery", "DiscoveryProbe"], exclude: ["lan"],
            swiftSettings: tests),
        .executableTarget(
            name: "StoreProbe", dependencies: ["SyncStore", "SyncModel", crypto], path: "Tests/StoreProbe",
            swiftSettings: common),
        .target(name: "CrashDisk", path: "Tests/CrashDisk", linkerSettings: [.linkedLibrary("sqlite3")]),
        .testTarget(
            name: "StoreTests",
            dependencies: [
                "SyncStore", "SyncModel", "SyncSimulator", "LawHistories", "StoreProbe", "CrashDisk", crypto,
                agent("GRDBSQLite", "GRDB.swift"),
            ],
            swiftSettings: tests),
        .testTarget(name: "DeployTests", swiftSettings: tests),
        .testTarget(
            name: "ControlTests",
            dependencies: [
                "ControlAPI", "ControlServer", "Lanyard", "LanyardClient", "LanyardTesting", "lanyard", "SyncAgent",
                "SyncCore", "SyncModel", "SyncStore", nio,
                nioPosix, logging, crypto,
                agent("HummingbirdCore", "hummingbird"),
                agent("HTTPTypes", "swift-http-types"),
                agent("ServiceLifecycle", "swift-service-lifecycle"),
            ], swiftSettings: tests),
        .testTarget(
            name: "TransportTests",
            dependencies: [
                "SyncTransport", "SyncModel", nio, nioPosix, crypto, logging,
                agent("NIOTLS", "swift-nio"),
                agent("NIOSSL", "swift-nio-ssl"),
            ], swiftSettings: tests),
    ]
)
