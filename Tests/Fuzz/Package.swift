// swift-tools-version: 6.2
import PackageDescription

// libFuzzer targets for every decoder of bytes from peers, and of what programs and files bring. A package of its own, so that
// the sanitizer's flags and objects stay out of the agent's build. ReplicatedTypes and SyncModel are the same folders, linked:
// their `package` symbols are visible here. The libraries, swift-crypto and swift-protobuf, are those the agent's build made;
// `smoke` names them to the compiler and the linker.
let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    // libFuzzer brings `main`.
    .unsafeFlags(["-parse-as-library"]),
]

func fuzzTarget(_ name: String, of libraries: Target.Dependency...) -> Target {
    .executableTarget(name: name, dependencies: libraries.isEmpty ? ["SyncModel"] : libraries, swiftSettings: settings)
}

let package = Package(
    name: "lanyard-fuzz",
    targets: [
        .target(name: "ReplicatedTypes", swiftSettings: settings),
        .target(
            name: "SyncModel", dependencies: ["ReplicatedTypes"],
            exclude: ["Wire/frames.proto", "Wire/pairing.proto"], swiftSettings: settings),
        .target(name: "ControlAPI", swiftSettings: settings),
        .target(name: "SyncCore", dependencies: ["SyncModel"], swiftSettings: settings),
        // Keys that are the same in every process.
        .target(name: "SimulatedDevices", dependencies: ["SyncModel"], swiftSettings: settings),
        // The two files of SyncDiscovery that read what comes from the network, without Avahi.
        .target(name: "DiscoveryText", swiftSettings: settings),
        fuzzTarget("FuzzArchive", of: "ControlAPI"),
        fuzzTarget("FuzzBulk"),
        fuzzTarget("FuzzChange"),
        // The files of SyncAgent that read a configuration are its own.
        fuzzTarget("FuzzConfiguration"),
        fuzzTarget("FuzzControl", of: "ControlAPI"),
        fuzzTarget("FuzzDelta"),
        fuzzTarget("FuzzDiscovery", of: "DiscoveryText"),
        fuzzTarget("FuzzFrame"),
        fuzzTarget("FuzzJSON"),
        fuzzTarget("FuzzMember"),
        fuzzTarget("FuzzObject"),
        // The files of SyncTransport that read tickets and frames of both pairings are its own.
        fuzzTarget("FuzzPairing"),
        fuzzTarget("FuzzSession", of: "SyncModel", "SyncCore", "SimulatedDevices"),
        fuzzTarget("FuzzState"),
        fuzzTarget("FuzzText"),
        fuzzTarget("FuzzDevice"),
        // Writes the corpora that real encoders make; see `seeds`.
        fuzzTarget("Seeds", of: "SyncModel", "SimulatedDevices"),
        // Must crash: shows that a crash is seen.
        fuzzTarget("FuzzCanary"),
    ]
)
