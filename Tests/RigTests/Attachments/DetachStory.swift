import Testing

extension RigSuites.AttachmentStories {
    @Test func `what is detached is gone from all lists, and attaching it again ships nothing`() throws {
        try StoryRig.tell { rig in
            let file = try rig.node(1).makeFile("regret.bin", bytes: 4 * Bytes.mebi)
            for number in 1...3 { try rig.node(number).countShipping() }
            try rig.node(1).put("album/a", ["title": "Summer"])
            let attachment = try rig.node(1).attach("album/a", file)
            try rig.waitUntilPresent(attachment, of: "album/a", within: .seconds(20))
            try rig.node(2).lanyard("detach", attachment.id, "--yes")
            try rig.inStep()
            for number in 1...3 {
                #expect(try rig.node(number).attachments("album/a").isEmpty, "node \(number)")
                try rig.node(number).expectRefusal(
                    ["fetch", attachment.id, "-o", "-"], code: "unknown_attachment", exit: 3)
                // Within the grace period nothing is freed, whoever asks for it.
                _ = try rig.node(number).lanyard("compact", "--json")
                #expect(try rig.node(number).blobFiles().contains { $0.hasSuffix(attachment.hash) }, "node \(number)")
            }
            var again: Attachment?
            let received = try rig.received(by: [1, 2, 3]) {
                let made = try rig.node(1).attach("album/a", file)
                try rig.waitUntilPresent(made, of: "album/a", within: .seconds(5))
                again = made
            }
            let second = try #require(again)
            #expect(received < Bytes.chunk, "\(received) bytes came with a record")
            #expect(second.id != attachment.id && second.hash == attachment.hash)
            try rig.expectContent(second, of: "album/a", file)

            // Without the file: by the hash of what was detached, or by an attachment that has the bytes.
            try rig.node(1).lanyard("detach", second.id, "--yes")
            try rig.inStep()
            let third = try rig.node(3).attachAgain("album/a", from: attachment.hash, "--name", "kept.bin")
            #expect(third.hash == attachment.hash && third.name == "kept.bin" && third.size == file.size)
            let copy = try rig.node(3).attachAgain("album/a", from: third.id)
            #expect(copy.hash == third.hash && copy.id != third.id && copy.name == "kept.bin")
            try rig.expectContent(copy, of: "album/a", file)
            try rig.node(3).expectRefusal(
                ["attach", "album/a", "--from-hash", String(repeating: "0", count: 64)], code: "not_found", exit: 3)

            // An object takes its attachments along.
            #expect(try rig.node(3).delete("album/a"))
            try rig.inStep()
            for number in 1...3 {
                #expect(try !rig.node(number).attachments().contains { $0.id == third.id }, "node \(number)")
            }
        }
    }
}
