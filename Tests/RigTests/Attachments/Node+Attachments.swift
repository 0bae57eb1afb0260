import Foundation
import Testing

/// The commands about attachments.
extension Node {
    /// A file of so many bytes that repeat nowhere, in the home of this node.
    func makeFile(_ name: String, bytes: Int) throws -> LocalFile {
        try shell("head -c \(bytes) /dev/urandom >\"$HOME/\(name)\"")
        return try file(name, bytes: bytes)
    }

    func file(_ name: String, bytes: Int) throws -> LocalFile {
        let answer = try output("sha256sum <\"$HOME/\(name)\" && echo \"$HOME/\(name)\"")
        let lines = answer.split(separator: "\n")
        guard lines.count == 2 else { throw RigError(description: "sha256sum on \(self.name) printed \(answer)") }
        return LocalFile(path: String(lines[1]), size: bytes, sha256: String(lines[0].prefix(64)))
    }

    @discardableResult
    func attach(_ object: String, _ file: LocalFile, _ options: String...) throws -> Attachment {
        try decode(Attachment.self, try lanyard(["attach", object, file.path, "--json"] + options).output)
    }

    /// Bytes that the node has: their hash, or an attachment.
    func attachAgain(_ object: String, from source: String, _ options: String...) throws -> Attachment {
        try decode(
            Attachment.self, try lanyard(["attach", object, "--from-hash", source, "--json"] + options).output)
    }

    func attachments(_ object: String? = nil) throws -> [Attachment] {
        try decode(
            [Attachment].self, try lanyard(["attachments"] + (object.map { [$0] } ?? []) + ["--json"]).output)
    }

    /// Nil while the record is not here, or the object.
    func attachment(_ id: String, of object: String) throws -> Attachment? {
        let outcome = try run(["lanyard", "attachments", object, "--json"])
        // Where the object is not known yet, neither are its attachments.
        guard outcome.status == 0 else { return nil }
        return try decode([Attachment].self, outcome.output).first { $0.id == id }
    }

    /// What this space fetches by itself: `all`, `on-demand`, or `up-to` and a size.
    func setFetch(_ policy: String...) throws {
        try lanyard(["spaces", "set", "home", "--fetch"] + policy)
    }

    func setQuota(_ size: String) throws { try lanyard("spaces", "set", "home", "--quota", size) }

    /// The digest of what a program reads that asks for the bytes.
    func contentSHA256(of id: String) throws -> String {
        String(try output("lanyard fetch \(id) -o - | sha256sum").prefix(64))
    }

    /// What a line of shell prints; it has to succeed.
    func output(_ script: String) throws -> String {
        let outcome = try run(["bash", "-c", "set -o pipefail; " + script])
        guard outcome.status == 0 else { throw RigError(description: "\(script) on \(name): \(outcome.errors)") }
        return outcome.output
    }

    /// A number that a line of shell prints.
    func number(_ script: String) throws -> Int {
        let text = try output(script).trimmingCharacters(in: .whitespacesAndNewlines)
        guard let number = Int(text) else { throw RigError(description: "\(script) on \(name) printed '\(text)'") }
        return number
    }

    /// What the agent's folder takes of the disk.
    func dataBytes() throws -> Int { try number("du -s --block-size=1 \"$LANYARD_DATA_DIR\" | cut -f 1") }

    /// The files that hold a whole blob: named by a hash, and nothing else.
    func blobFiles() throws -> [String] {
        try output("find \"$LANYARD_DATA_DIR\" -type f -regextype posix-extended -regex '.*/[0-9a-f]{64}'")
            .split(separator: "\n").map(String.init)
    }

    /// Files of at least a MiB that hold no whole blob, and no database: what arrives, or is being added.
    func unfinishedFiles() throws -> [String] {
        let pattern = "-type f -size +1M -regextype posix-extended ! -name '*.sqlite*' ! -regex '.*/[0-9a-f]{64}'"
        return try output("find \"$LANYARD_DATA_DIR\" \(pattern)").split(separator: "\n").map(String.init)
    }
}

extension Rig {
    /// Until all these nodes say that all its bytes are here.
    @discardableResult
    func waitUntilPresent(
        _ attachment: Attachment, of object: String, on numbers: [Int] = [1, 2, 3], within bound: Duration,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> Duration {
        try eventually(
            within: bound, "'\(attachment.name)' is present on \(numbers)", sourceLocation: sourceLocation
        ) {
            try ask(numbers) { try $0.attachment(attachment.id, of: object)?.state == .present }.allSatisfy { $0 }
        }
    }

    /// Where it is due it is present, under one hash, and what is read is what was attached.
    func expectContent(
        _ attachment: Attachment, of object: String, _ file: LocalFile, on numbers: [Int] = [1, 2, 3],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        for number in numbers {
            let here = try node(number).attachment(attachment.id, of: object)
            #expect(here?.state == .present, "node \(number)", sourceLocation: sourceLocation)
            #expect(here?.hash == attachment.hash, "node \(number)", sourceLocation: sourceLocation)
            #expect(here?.size == file.size, "node \(number)", sourceLocation: sourceLocation)
            #expect(
                try node(number).contentSHA256(of: attachment.id) == file.sha256, "node \(number)",
                sourceLocation: sourceLocation)
        }
    }
}
