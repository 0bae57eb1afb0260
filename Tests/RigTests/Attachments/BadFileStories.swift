import Foundation
import Testing

extension RigSuites.AttachmentStories {
    @Test func `a file that cannot be read is refused with a code, and nothing is attached`() throws {
        try StoryRig.tell { rig in
            let node = rig.node(1)
            try node.put("desk/unreadable", [:])
            try node.shell("umask 777; echo secret >\"$HOME/secret.txt\"; mkdir -m 700 \"$HOME/folder\"")
            // Root reads everything, unless it gives that up.
            let given = "-dac_override,-dac_read_search"
            let asAnybody = ["setpriv", "--bounding-set=\(given)", "--inh-caps=\(given)", "sh", "-c"]
            let mistakes: [(name: String, code: String, exit: Int32)] = [
                ("secret.txt", "file_unreadable", 1), ("folder", "file_unreadable", 1), ("nowhere.txt", "not_found", 3),
            ]
            for (name, code, exit) in mistakes {
                let outcome = try node.run(asAnybody + ["lanyard attach desk/unreadable \"$HOME/\(name)\" --json"])
                node.expectRefusal(of: outcome, code: code, exit: exit)
            }
            #expect(try node.attachments("desk/unreadable").isEmpty)
            try rig.inStep()
        }
    }

    @Test func `a file that is written to while it is read is refused, and is whole when it rests`() throws {
        try StoryRig.tell { rig in
            let node = rig.node(1)
            try node.put("desk/growing", [:])
            _ = try node.makeFile("growing.bin", bytes: 64 * Bytes.mebi)
            let script = """
                file=$HOME/growing.bin
                while :; do echo more >>"$file"; done &
                writer=$!
                until [ "$(stat -c %s "$file")" -gt \(64 * Bytes.mebi) ]; do :; done
                lanyard attach desk/growing "$file" --json
                code=$?
                kill $writer
                wait $writer 2>/dev/null
                exit $code
                """
            node.expectRefusal(of: try node.run(["sh", "-c", script]), code: "file_changed", exit: 1)
            #expect(try node.attachments("desk/growing").isEmpty)
            try eventually(within: .seconds(5), "what was read of it is gone") { try node.unfinishedFiles().isEmpty }

            let file = try node.file("growing.bin", bytes: node.number("stat -c %s \"$HOME/growing.bin\""))
            let attachment = try node.attach("desk/growing", file)
            try rig.waitUntilPresent(attachment, of: "desk/growing", within: .seconds(60))
            try rig.expectContent(attachment, of: "desk/growing", file)
            try rig.inStep()
        }
    }

    @Test func `a file without bytes and a file whose name is no text arrive like others`() throws {
        try StoryRig.tell { rig in
            let node = rig.node(1)
            try node.put("desk/odd", [:])
            let empty = try node.makeFile("empty.txt", bytes: 0)
            let attachment = try node.attach("desk/odd", empty)
            #expect(attachment.size == 0 && attachment.name == "empty.txt")
            let script = #"""
                cd "$HOME" && name=$(printf 'pict\377ure.txt') && echo odd >"$name" && lanyard attach desk/odd "$name" --json
                """#
            let odd = try node.decode(Attachment.self, try node.output(script))
            #expect(odd.name.hasPrefix("pict") && odd.name.hasSuffix("ure.txt"), "\(odd.name)")
            for one in [attachment, odd] {
                try rig.waitUntilPresent(one, of: "desk/odd", within: .seconds(10))
                for number in 1...3 {
                    #expect(try rig.node(number).attachment(one.id, of: "desk/odd")?.name == one.name)
                }
            }
            try rig.expectContent(attachment, of: "desk/odd", empty)
            for number in 1...3 { #expect(try rig.node(number).output("lanyard fetch \(odd.id) -o -") == "odd\n") }
            try rig.inStep()
        }
    }

    @Test func `attaching that is interrupted leaves nothing`() throws {
        try StoryRig.tell { rig in
            let node = rig.node(1)
            try node.put("desk/interrupted", [:])
            // Bytes come, and then none and no end, until somebody presses Ctrl-C.
            let script = """
                pipe=$HOME/pipe
                mkfifo "$pipe"
                { head -c 8M /dev/urandom; exec sleep 600; } >"$pipe" &
                feeder=$!
                # Whoever runs the tests may have told them to take no notice of it, or to wait with it.
                perl -MPOSIX -e 'sigprocmask(SIG_SETMASK, POSIX::SigSet->new); $SIG{INT} = "DEFAULT"; exec @ARGV' \\
                    lanyard attach desk/interrupted - --name never.bin <"$pipe"
                code=$?
                kill $feeder
                rm "$pipe"
                exit $code
                """
            let folder = try Shell.temporaryFolder()
            defer { try? FileManager.default.removeItem(at: folder) }
            let attaching = try Shell.start(
                ["deploy/rig", "exec", "1", "--", "sh", "-c", script], output: folder.appending(path: "output"),
                errors: folder.appending(path: "errors"), environment: Rig.environment)
            try eventually(within: .seconds(20), "bytes are being added") { try !node.unfinishedFiles().isEmpty }
            try node.shell("kill -INT $(pgrep -x lanyard)")
            attaching.waitUntilExit()
            #expect(attaching.terminationStatus != 0)
            try eventually(within: .seconds(10), "what came is gone") { try node.unfinishedFiles().isEmpty }
            #expect(try node.attachments("desk/interrupted").isEmpty)
            try rig.inStep()
        }
    }
}
