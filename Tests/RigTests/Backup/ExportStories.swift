import Foundation
import Testing

extension RigSuites {
    /// The data of a node without its keys.
    @Suite struct ExportStories {
        @Test func `what one node exports another imports once, however often it is told`() throws {
            try Rig.with(2) { rig in
                let (source, other) = (rig.node(1), rig.node(2))
                try source.setSchema("album", ["fields": ["plays": "counter", "tags": "set", "body": "text"]])
                for number in 1...20 {
                    try source.put(
                        "album/\(number)",
                        ["plays": .integer(Int64(number)), "tags": ["a", "b"], "body": "text ö", "n": ["x": [1, 2]]])
                }
                try source.emit(1_500, to: "log")
                // As large as an event may be, 1 MiB with all that is around it.
                try source.shell(
                    """
                    head -c 1048554 /dev/zero | tr '\\0' x | sed 's/.*/{"from":"&","number":0}/' | lanyard emit log -
                    """)
                try other.emit(10, to: "log")
                let large = try source.makeFile("large.bin", bytes: 3 * Bytes.mebi)
                let small = try other.makeFile("small.bin", bytes: 700)
                try rig.inStep([1, 2])
                try source.attach("album/1", large)
                try source.attach("album/2", large)
                try other.attach("album/2", small)
                try rig.inStep([1, 2])
                let fresh = try rig.add()
                let file = FileManager.default.temporaryDirectory.appending(path: "lanyard-\(UUID().uuidString)").path
                defer { try? FileManager.default.removeItem(atPath: file) }
                try source.lanyard("export", file, "-q")
                for _ in 1...2 { try fresh.lanyard("import", file, "-q") }

                #expect(try fresh.list("album").map(\.fields) == source.list("album").map(\.fields))
                #expect(try fresh.list("album").map(\.id) == source.list("album").map(\.id))
                #expect(try fresh.events("log").map(\.payload) == source.events("log").map(\.payload))
                for number in ["1", "2"] {
                    let (here, there) = (
                        try fresh.attachments("album/\(number)"), try source.attachments("album/\(number)")
                    )
                    #expect(here.map(\.hash) == there.map(\.hash) && here.map(\.name) == there.map(\.name))
                    for attachment in here {
                        let file = attachment.name == "large.bin" ? large : small
                        #expect(try fresh.contentSHA256(of: attachment.id) == file.sha256)
                    }
                }
                // What happened there since stays.
                try fresh.put("album/3", ["body": "mine"])
                try fresh.lanyard("delete", "album/4", "--yes")
                let told = try fresh.lanyard("import", file).output
                #expect(told.contains("left so: album/3") && told.contains("Deleted here, and left so: album/4"))
                #expect(try fresh.fields("album/3")["body"] == "mine")
                try fresh.lanyard("import", file, "-q", "--replace")
                #expect(try fresh.fields("album/3") == source.fields("album/3"))
                #expect(try fresh.events("log").count == source.events("log").count)
                // Into where it came from it brings nothing.
                let digest = try source.digest()
                try other.lanyard("import", file, "-q")
                #expect(try source.digest() == digest && other.digest() == digest)
            }
        }

        @Test func `an export and an import that are stopped again and again leave nothing half, and nothing twice`()
            throws
        {
            try Rig.with(1) { rig in
                let source = rig.node(1)
                for number in 1...5 { try source.put("album/\(number)", ["n": .integer(Int64(number))]) }
                try source.emit(20_000, to: "log")
                let large = try source.makeFile("large.bin", bytes: 30 * Bytes.mebi)
                try source.attach("album/1", large)
                let fresh = try rig.add()
                let folder = FileManager.default.temporaryDirectory.appending(path: "lanyard-\(UUID().uuidString)").path
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
                defer { try? FileManager.default.removeItem(atPath: folder) }
                try source.shell(
                    """
                    for t in 0.05 0.1 0.2; do
                        timeout -s INT $t lanyard export '\(folder)/saved' -q --force
                        [ "$(ls -A '\(folder)')" = "" ] || [ "$(ls -A '\(folder)')" = saved ] || exit 1
                    done
                    lanyard export '\(folder)/saved' -q --force
                    """)
                try fresh.shell(
                    """
                    for t in 0.1 0.2 0.3 0.5 0.2 0.4; do timeout -s INT $t lanyard import '\(folder)/saved' -q; done
                    lanyard import '\(folder)/saved' -q
                    """)
                #expect(try fresh.events("log").map(\.payload) == source.events("log").map(\.payload))
                let attached = try fresh.attachments()
                #expect(attached.count == 1)
                #expect(try fresh.contentSHA256(of: attached[0].id) == large.sha256)
                #expect(try fresh.list("album").map(\.fields) == source.list("album").map(\.fields))
            }
        }
    }
}
