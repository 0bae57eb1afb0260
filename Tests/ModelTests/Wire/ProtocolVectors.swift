import Foundation

/// The test vectors that stand in Sources/PROTOCOL.md, between the fences marked `vectors`: a name, `=`, hexadecimal.
struct ProtocolVectors {
    struct Malformed: Error, CustomStringConvertible {
        let description: String
    }

    private(set) var bytes: [String: [UInt8]] = [:]

    init(filePath: String = #filePath) throws {
        let root = URL(fileURLWithPath: filePath).deletingLastPathComponent().appending(path: "../../..")
        let text = try String(contentsOf: root.appending(path: "Sources/PROTOCOL.md").standardized, encoding: .utf8)
        var isInside = false
        for line in text.split(separator: "\n") {
            if line.hasPrefix("```") {
                isInside = line == "```vectors"
            } else if isInside {
                let parts = line.split(separator: "=").map { $0.trimmingCharacters(in: .whitespaces) }
                guard parts.count == 2, let value = Self.bytes(parts[1]),
                    bytes.updateValue(value, forKey: parts[0]) == nil
                else { throw Malformed(description: "no vector: \(line)") }
            }
        }
    }

    subscript(name: String) -> [UInt8] {
        get throws {
            guard let value = bytes[name] else { throw Malformed(description: "PROTOCOL.md has no vector \(name)") }
            return value
        }
    }

    private static func bytes(_ hexadecimal: String) -> [UInt8]? {
        let digits = Array(hexadecimal.utf8)
        guard digits.count % 2 == 0 else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let byte = UInt8(String(decoding: digits[index..<index + 2], as: UTF8.self), radix: 16) else {
                return nil
            }
            bytes.append(byte)
        }
        return bytes
    }
}
