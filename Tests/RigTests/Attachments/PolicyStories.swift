import Testing

extension RigSuites.AttachmentStories {
    @Test func `a node fetches what its policy says, what is pinned, and what somebody asks for`() throws {
        try StoryRig.tell { rig in
            try rig.onDemand([2, 3]) {
                try rig.node(3).setFetch("up-to", "100K")
                try rig.node(1).put("desk/a", [:])
                let small = try rig.node(1).makeFile("small.bin", bytes: 50_000)
                let large = try rig.node(1).makeFile("large.bin", bytes: Bytes.mebi)
                let (thumbnail, picture) = (
                    try rig.node(1).attach("desk/a", small), try rig.node(1).attach("desk/a", large)
                )
                try rig.waitUntilPresent(thumbnail, of: "desk/a", on: [1, 3], within: .seconds(10))
                try rig.inStep()
                let expected: [(Int, Attachment, Attachment.State)] = [
                    (2, thumbnail, .missing), (2, picture, .missing), (3, picture, .missing),
                ]
                for (number, attachment, state) in expected {
                    #expect(try rig.node(number).attachment(attachment.id, of: "desk/a")?.state == state)
                }
                // Nothing is wanted that is not here, so nothing is waited for.
                try rig.node(2).lanyard("wait", "--timeout", "10s")

                try rig.node(2).lanyard("pin", picture.id)
                try rig.waitUntilPresent(picture, of: "desk/a", on: [2], within: .seconds(10))
                #expect(try rig.node(2).attachment(thumbnail.id, of: "desk/a")?.state == .missing)
                try rig.node(2).lanyard("unpin", picture.id)
                #expect(try rig.node(2).attachment(picture.id, of: "desk/a")?.state == .present, "what is here stays")

                #expect(try rig.node(3).contentSHA256(of: picture.id) == large.sha256, "somebody asked for it")
                #expect(try rig.node(3).attachment(picture.id, of: "desk/a")?.state == .present)
                try rig.node(2).setFetch("all")
                try rig.node(2).lanyard("wait", "--timeout", "20s")
                try rig.expectContent(thumbnail, of: "desk/a", small)
                try rig.expectContent(picture, of: "desk/a", large)
                try rig.inStep()
            }
        }
    }

    @Test func `what nobody has is asked for in vain with the name of who had it, and comes when they return`() throws {
        try StoryRig.tell { rig in
            try rig.onDemand([2, 3]) {
                try rig.node(1).put("drawer/a", [:])
                let file = try rig.node(1).makeFile("drawer.bin", bytes: Bytes.mebi)
                let attachment = try rig.node(1).attach("drawer/a", file)
                try rig.inStep()
                try rig("stop", "1")
                let refusal = try rig.node(3).expectRefusal(
                    ["fetch", attachment.id, "-o", "-"], code: "nobody_has", exit: 1)
                let words = "\(refusal?.error.message ?? "") \(refusal?.error.hint ?? "")"
                #expect(words.contains("node1"), "who had it last: \(words)")
                #expect(try rig.node(3).attachment(attachment.id, of: "drawer/a")?.state == .missing)
                try rig("start", "1")
                try rig.waitUntilAllConnected()
                #expect(try rig.node(3).contentSHA256(of: attachment.id) == file.sha256)
                try rig.expectContent(attachment, of: "drawer/a", file, on: [1, 3])
            }
            try rig.node(2).lanyard("wait", "--timeout", "20s")
            try rig.inStep()
        }
    }

    /// The file has no blocks, so it costs nothing: the full one, written, is a matter for deploy/bench.
    @Test func `ten gibibytes against a quota of one are refused before a byte is written`() throws {
        try StoryRig.tell { rig in
            let node = rig.node(1)
            try node.setQuota("1G")
            defer { try? node.setQuota("none") }
            try node.put("vault/a", [:])
            try node.shell("truncate --size 10G \"$HOME/huge.bin\"")
            let (written, readBefore) = (try node.agentBytes("write_bytes"), try node.agentBytes("rchar"))
            // What was read, and not how long it took: on a busy machine a command takes seconds. A shell is told of
            // what its commands read.
            let script = """
                lanyard attach vault/a "$HOME/huge.bin" --json
                code=$?
                sed -n 's/^rchar: //p' /proc/$$/io >"$HOME/read"
                exit $code
                """
            let refusal = node.expectRefusal(
                of: try node.run(["sh", "-c", script]), code: "quota_exceeded", exit: 4)
            let read = try node.number("cat \"$HOME/read\"") + node.agentBytes("rchar") - readBefore
            print("    refused after \(read) bytes: \(refusal?.error.message ?? "")")
            #expect(read < 512 * Bytes.mebi, "ten gibibytes were not read")
            #expect(try node.agentBytes("write_bytes") - written < Bytes.mebi)
            #expect(try node.unfinishedFiles().isEmpty)
            #expect(try node.attachments("vault/a").isEmpty)
            try node.shell("rm \"$HOME/huge.bin\" \"$HOME/read\"")
        }
    }
}

extension Node {
    /// Bytes of the agent since it started (proc(5), io): `rchar` that it read, `write_bytes` that it had written to
    /// the disk.
    func agentBytes(_ count: String) throws -> Int {
        try number("sed -n 's/^\(count): //p' /proc/$(pgrep -o -x lanyardd)/io")
    }
}
