import Crypto
import Foundation
import SyncModel

/// `Seeds FOLDER`: writes the corpora that take the encoders of agents, the same files in every run. libFuzzer brings `main`; this
/// comes before it fuzzes anything.
@_cdecl("LLVMFuzzerInitialize")
public func writeSeeds(_ count: UnsafeMutableRawPointer?, _ arguments: UnsafeMutableRawPointer?) -> CInt {
    guard CommandLine.arguments.count == 2 else {
        FileHandle.standardError.write(Data("usage: Seeds FOLDER\n".utf8))
        exit(2)
    }
    do { try Seeds.write(to: URL(fileURLWithPath: CommandLine.arguments[1])) } catch {
        FileHandle.standardError.write(Data("\(error)\n".utf8))
        exit(1)
    }
    exit(0)
}

/// Never called: libFuzzer wants one to link.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzNothing(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt { 0 }

enum Seeds {
    /// Files of each corpus, at most.
    static let count = 230

    static func write(to folder: URL) throws {
        try write("Device", DeviceSeeds.all, to: folder)
        try write("Member", MemberSeeds.all, to: folder)
        try write("Pairing", PairingSeeds.all, to: folder)
        try write("Session", SessionSeeds.all, to: folder)
        try write("Text", (0..<UInt64(count)).map { TextHistory(seed: $0).seed }, to: folder)
        let histories = (0..<UInt64(count)).map { ObjectHistory(seed: $0) }
        try write("Object", histories.map(\.steps), to: folder)
        try write("Delta", histories.map(\.delta), to: folder)
    }

    private static func write(_ target: String, _ seeds: [[UInt8]], to folder: URL) throws {
        let corpus = folder.appendingPathComponent(target)
        try FileManager.default.createDirectory(at: corpus, withIntermediateDirectories: true)
        for seed in seeds {
            let name = Insecure.SHA1.hash(data: seed).prefix(6).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
            try Data(seed).write(to: corpus.appendingPathComponent(name.joined()))
        }
    }
}

/// SplitMix64: the same numbers in every run.
struct Chance: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = (state ^ (state >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }

    mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8.random(in: 0...255, using: &self) } }

    mutating func word() -> String {
        let letters = ["a", "b", "c", " ", "é", "\u{1F600}", "\u{1F1E9}\u{1F1EA}", "\n", "\"", "/"]
        return (0..<below(9)).map { _ in letters[below(letters.count)] }.joined()
    }
}

enum DeviceSeeds {
    static var all: [[UInt8]] {
        var chance = Chance(seed: 1)
        return (0..<Seeds.count).map { number in
            let bytes = chance.bytes(DeviceID.byteCount)
            guard let device = DeviceID(bytes: bytes) else { return bytes }
            var text = Array(device.description.utf8)
            switch number % 6 {
            case 0: return bytes
            case 1: text = Array(device.description.lowercased().utf8)
            case 2: text.removeAll { $0 == UInt8(ascii: "-") }
            case 3: text[chance.below(text.count)] = UInt8(ascii: "7")
            case 4: text.swapAt(chance.below(text.count), chance.below(text.count))
            case _: break
            }
            return text
        }
    }
}
