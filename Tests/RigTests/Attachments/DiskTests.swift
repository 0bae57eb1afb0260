import Testing

extension RigSuites {
    /// Disks that fill up, or lose their power, while a file arrives.
    @Suite struct AttachmentDiskTests {
        private static let size = 64 * Bytes.mebi
        /// Bytes a second of the node that has the file: half a minute for all of it, so that a fault meets it on its
        /// way.
        private static let uploadLimit = "2M"
        private static let object = "disk/a"

        @Test func `a disk that fills up while a file arrives says so, takes records, and goes on once there is room`()
            throws
        {
            try Rig.with(1, "--no-pair") { rig in
                let small = try rig.add("--disk", "192")
                let (attachment, file) = try attachSlowly(rig, to: small)
                try waitForShare(0.2, of: attachment, small)
                try small.shell(
                    """
                    free=$(df --output=avail --block-size=1 "$LANYARD_DATA_DIR" | tail -n 1)
                    head -c $((free - \(24 * Bytes.mebi))) /dev/zero >"$LANYARD_DATA_DIR/filler"
                    """)
                // Less than files must leave, and more than the log needs: what it needs is not given to files.
                try eventually(within: .seconds(60), "a fetch says that the disk is full") {
                    let outcome = try small.run(["lanyard", "fetch", attachment.id, "-o", "-", "--json"])
                    return outcome.status != 0 && outcome.errors.contains("disk_full")
                }
                #expect(try small.attachment(attachment.id, of: Self.object)?.state == .partial)
                try rig.node(1).emit(100, to: "meanwhile")
                try small.put("disk/b", ["title": "written while the disk is full"])
                try rig.inStep([1, 2], within: .seconds(10))

                try small.shell("rm \"$LANYARD_DATA_DIR/filler\"")
                try rig.waitUntilPresent(attachment, of: Self.object, on: [1, 2], within: .seconds(240))
                try rig.expectContent(attachment, of: Self.object, file, on: [1, 2])
                try rig.inStep([1, 2])
            }
        }

        @Test func `a quota that is too small refuses what arrives, and larger lets it in`() throws {
            try Rig.with(2) { rig in
                try rig.node(2).setQuota("1M")
                try rig.node(1).put(Self.object, [:])
                let small = try rig.node(1).makeFile("small.bin", bytes: 1_000)
                let large = try rig.node(1).makeFile("large.bin", bytes: 2 * Bytes.mebi)
                let (first, second) = (
                    try rig.node(1).attach(Self.object, small), try rig.node(1).attach(Self.object, large)
                )
                try rig.waitUntilPresent(first, of: Self.object, on: [1, 2], within: .seconds(10))
                try rig.node(2).expectRefusal(["fetch", second.id, "-o", "-"], code: "quota_exceeded", exit: 4)
                #expect(try rig.node(2).attachment(second.id, of: Self.object)?.state != .present)
                try rig.node(2).setQuota("none")
                try rig.waitUntilPresent(second, of: Self.object, on: [1, 2], within: .seconds(20))
                try rig.expectContent(second, of: Self.object, large, on: [1, 2])
                try rig.inStep([1, 2])
            }
        }

        @Test func `a file that was attached is whole after the power went, and is served`() throws {
            try Rig.with(1, "--no-pair") { rig in
                let node = try rig.add("--disk", "512", "--ext4")
                try node.join(through: rig.node(1))
                try rig("isolate", "1")
                try node.put(Self.object, [:])
                let (large, small) = (
                    try node.makeFile("large.bin", bytes: 8 * Bytes.mebi), try node.makeFile("small.bin", bytes: 9_000)
                )
                let attachments = try [large, small].map { (try node.attach(Self.object, $0), $0) }
                try rig("unplug", "2")
                try rig("start", "2")
                for (attachment, file) in attachments {
                    try rig.expectContent(attachment, of: Self.object, file, on: [2])
                }
                try rig("heal")
                for (attachment, file) in attachments {
                    try rig.waitUntilPresent(attachment, of: Self.object, on: [1, 2], within: .seconds(30))
                    try rig.expectContent(attachment, of: Self.object, file, on: [1, 2])
                }
                try rig.inStep([1, 2])
            }
        }

        @Test func `a file that arrives goes on after the power went, where the disk had been told`() throws {
            try Rig.with(1, "--no-pair") { rig in
                let node = try rig.add("--disk", "512", "--ext4")
                try node.countShipping()
                let (attachment, file) = try attachSlowly(rig, to: node)
                for share in [0.35, 0.7] {
                    try waitForShare(share, of: attachment, node)
                    try rig("unplug", "2")
                    try rig("start", "2")
                }
                try rig.waitUntilPresent(attachment, of: Self.object, on: [1, 2], within: .seconds(240))
                try rig.expectContent(attachment, of: Self.object, file, on: [1, 2])
                let again = try node.shipping().received - Self.size
                // At 2 MiB a second: what came since the last sync, within a second, and what was on its way.
                // Some seconds of it, since a busy machine syncs slowly.
                print("    \(again) bytes came again after two losses of power")
                #expect(again < 2 * 8 * Bytes.mebi)
                try rig.inStep([1, 2])
            }
        }

        @Test func `a file whose only holder loses its power goes on where it was when the holder is back`() throws {
            try Rig.with(1, "--no-pair") { rig in
                let holder = try rig.add("--disk", "512", "--ext4")
                try holder.join(through: rig.node(1))
                try rig("stop", "2")
                try rig("start", "2", "--", "--upload-limit", Self.uploadLimit)
                try rig.node(1).countShipping()
                try holder.put(Self.object, [:])
                let file = try holder.makeFile("slow.bin", bytes: Self.size)
                let attachment = try holder.attach(Self.object, file)
                try waitForShare(0.4, of: attachment, rig.node(1))
                try rig("unplug", "2")
                #expect(try rig.node(1).attachment(attachment.id, of: Self.object)?.state == .partial)
                try rig("start", "2")
                try rig.waitUntilPresent(attachment, of: Self.object, on: [1, 2], within: .seconds(240))
                try rig.expectContent(attachment, of: Self.object, file, on: [1, 2])
                let again = try rig.node(1).shipping().received - Self.size
                print("    \(again) bytes came again, or were no bytes of the file")
                #expect(again < 2 * Bytes.mebi, "what was here stayed")
                try rig.inStep([1, 2])
            }
        }

        /// Attached on node 1, which sends slowly, and known to the other, which has just joined.
        private func attachSlowly(_ rig: Rig, to other: Node) throws -> (Attachment, LocalFile) {
            try rig("stop", "1")
            try rig("start", "1", "--", "--upload-limit", Self.uploadLimit)
            try other.join(through: rig.node(1))
            try rig.node(1).put(Self.object, [:])
            let file = try rig.node(1).makeFile("slow.bin", bytes: Self.size)
            return (try rig.node(1).attach(Self.object, file), file)
        }

        private func waitForShare(_ share: Double, of attachment: Attachment, _ node: Node) throws {
            try eventually(within: .seconds(120), "\(Int(share * 100)) of 100 parts have come") {
                try node.attachment(attachment.id, of: Self.object)?.progress ?? 0 >= share
            }
            let now = try node.attachment(attachment.id, of: Self.object)
            #expect(now?.state == .partial, "the rest is on its way")
        }
    }
}
