import FoundationEssentials

/// One block of a PEM file (RFC 7468): a label, and bytes in base64 of 64 characters a line.
struct PEMBlock {
    let label: String
    let bytes: [UInt8]

    /// The block without an end of its last line.
    var text: String {
        let base64 = Data(bytes).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN \(label)-----\n\(base64)\n-----END \(label)-----"
    }

    /// Returns the blocks of a file in their order, without the lines between them; nil when one is damaged.
    static func blocks(of file: String) -> [PEMBlock]? {
        var lines = file.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }[...]
        var blocks: [PEMBlock] = []
        while let begin = lines.popFirst() {
            guard begin.hasPrefix("-----BEGIN "), begin.hasSuffix("-----") else { continue }
            let label = begin.dropFirst("-----BEGIN ".count).dropLast("-----".count)
            guard let end = lines.firstIndex(of: "-----END \(label)-----"), let bytes = decode(lines[..<end]) else {
                return nil
            }
            blocks.append(PEMBlock(label: String(label), bytes: bytes))
            lines = lines[(end + 1)...]
        }
        return blocks
    }

    private static func decode(_ lines: ArraySlice<Substring>) -> [UInt8]? {
        guard let last = lines.last, (1...64).contains(last.utf8.count),
            lines.dropLast().allSatisfy({ $0.utf8.count == 64 })
        else { return nil }
        return Data(base64Encoded: lines.joined()).map(Array.init)
    }
}
