import Testing

extension RigSuites.AttachmentStories {
    @Test func `a bit that flips on the disk is never handed out, is found, and is mended from a peer`() throws {
        try StoryRig.tell { rig in
            let node = rig.node(2)
            try rig.node(1).put("rot/a", [:])
            let file = try rig.node(1).makeFile("rot.bin", bytes: 4 * Bytes.mebi)
            let attachment = try rig.node(1).attach("rot/a", file)
            try rig.waitUntilPresent(attachment, of: "rot/a", within: .seconds(20))
            let healthy = try deepCheck(node)

            // Somebody reads it before anybody checks.
            try flipBit(of: attachment, at: 1_000_000, node)
            let read = try node.run(["bash", "-c", "set -o pipefail; lanyard fetch \(attachment.id) -o - | sha256sum"])
            #expect(read.status != 0 || read.output.hasPrefix(file.sha256), "either all of it is right, or it fails")
            try rig.waitUntilPresent(attachment, of: "rot/a", within: .seconds(20))
            try rig.expectContent(attachment, of: "rot/a", file)

            // Nobody reads it.
            try flipBit(of: attachment, at: 3_000_000, node)
            let sick = try deepCheck(node)
            #expect(sick != healthy, "doctor --deep names it: \(sick)")
            try rig.waitUntilPresent(attachment, of: "rot/a", within: .seconds(20))
            try eventually(within: .seconds(20), "doctor --deep has nothing more to say") {
                try deepCheck(node) == healthy
            }
            try rig.expectContent(attachment, of: "rot/a", file)
            try rig.inStep()
        }
    }

    /// The state of each check, by name.
    private func deepCheck(_ node: Node) throws -> [String: String] {
        struct Check: Decodable {
            let check: String
            let state: String
        }
        let outcome = try node.run(["lanyard", "doctor", "--deep", "--json"])
        let checks = try node.decode([Check].self, outcome.output)
        return Dictionary(checks.map { ($0.check, $0.state) }, uniquingKeysWith: { "\($0), \($1)" })
    }

    private func flipBit(of attachment: Attachment, at offset: Int, _ node: Node) throws {
        let path = try #require(try node.blobFiles().first { $0.hasSuffix("/" + attachment.hash) })
        try node.shell(
            """
            perl -e 'open(my $file, "+<", $ARGV[0]) or die; seek($file, \(offset), 0); read($file, my $byte, 1);
                seek($file, \(offset), 0); print $file chr(ord($byte) ^ 16)' '\(path)'
            """)
    }
}
