import Testing

extension RigSuites.AttachmentStories {
    @Test func `the same file on a hundred objects of three machines is stored once and shipped once`() throws {
        try StoryRig.tell { rig in
            let bytes = 4 * Bytes.mebi
            let file = try rig.node(1).makeFile("logo.bin", bytes: bytes)
            for number in 1...3 { try rig.node(number).countShipping() }
            let (blobsBefore, diskBefore) = (
                try rig.ask([1, 2, 3]) { try $0.blobFiles().count }, try rig.ask([1, 2, 3]) { try $0.dataBytes() }
            )
            let first = try attachFirst(file, rig)
            let received = try rig.received(by: [1, 2, 3]) {
                for number in 1...3 {
                    // The same bytes lie on each machine, as a logo does.
                    let script = """
                        for index in $(seq 1 33); do
                            lanyard put page/\(number)-$index '{}' -q && lanyard attach page/\(number)-$index \
                                '\(file.path)' -q || exit 1
                        done
                        """
                    try rig.node(number).shell(script)
                }
                try rig.inStep(within: .seconds(30))
            }
            print("    99 more attachments of \(bytes) bytes: \(received) bytes shipped")
            #expect(received < bytes / 4, "99 records, and none of their bytes")
            try expectOneBlob(rig, hash: first.hash, bytes: bytes, blobsBefore, diskBefore)

            // A byte more makes it another picture, of which all but that byte is on each machine.
            try rig.node(2).shell("cp '\(file.path)' \"$HOME/other.bin\" && printf x >>\"$HOME/other.bin\"")
            let other = try rig.node(2).file("other.bin", bytes: bytes + 1)
            var second = first
            let grown = try rig.received(by: [1, 3]) {
                second = try rig.node(2).attach("page/first", other)
                try rig.waitUntilPresent(second, of: "page/first", within: .seconds(20))
            }
            #expect(second.hash != first.hash && second.id != first.id)
            print("    a byte appended to \(bytes): \(grown) bytes shipped to two")
            #expect(grown < bytes / 20, "what a machine has is not sent to it")
            try rig.expectContent(second, of: "page/first", other)
            try rig.expectContent(first, of: "page/first", file)
            try rig.inStep()
        }
    }

    /// Where nobody has its bytes yet: they are shipped to each of the two others, once.
    private func attachFirst(_ file: LocalFile, _ rig: Rig) throws -> Attachment {
        try rig.node(1).put("page/first", [:])
        try rig.inStep()
        var attachment: Attachment?
        let received = try rig.received(by: [2, 3]) {
            let made = try rig.node(1).attach("page/first", file)
            try rig.waitUntilPresent(made, of: "page/first", within: .seconds(20))
            attachment = made
        }
        #expect(received >= 2 * file.size)
        #expect(received < 2 * file.size + file.size / 4, "each of the others got it once")
        return try #require(attachment)
    }

    private func expectOneBlob(
        _ rig: Rig, hash: String, bytes: Int, _ blobsBefore: [Int], _ diskBefore: [Int]
    ) throws {
        for number in 1...3 {
            let node = rig.node(number)
            let mine = try node.attachments().filter { $0.owner.hasPrefix("page/") }
            #expect(mine.count == 100 && mine.allSatisfy { $0.hash == hash && $0.state == .present })
            #expect(Set(mine.map(\.id)).count == 100, "a hundred attachments")
            #expect(try node.blobFiles().count == blobsBefore[number - 1] + 1, "and one blob, on node \(number)")
            // The records and the log take some; a second copy would take twice.
            #expect(try node.dataBytes() - diskBefore[number - 1] < bytes * 7 / 4, "node \(number)")
        }
    }
}
