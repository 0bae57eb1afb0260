import Testing

extension RigSuites.AttachmentStories {
    /// Paths, switches, devices, twins, and what is hidden or ends in what some systems drop. Twins may stand side by side
    /// here, where they are two files; where they are one, the second is refused as any file that is in the way.
    private static let nastyNames = [
        "../outside", "/etc/lanyard-evil", "..\\up", "a/b", "CON", "nul.txt", "trailing.", "trailing", "Twin.txt",
        "twin.TXT", "\u{e9}.txt", "e\u{301}.txt", "-rf", ".hidden", "~root", "line\nbreak", "..", "\u{202e}txt.exe",
    ]

    @Test func `files are fetched under names that lead nowhere, and nothing is written over`() throws {
        try StoryRig.tell { rig in
            let node = rig.node(2)
            try rig.node(1).put("names/a", [:])
            var attached: [String] = []
            for (index, name) in Self.nastyNames.enumerated() {
                let outcome = try rig.node(1).run(
                    ["lanyard", "attach", "names/a", "-", "--name=\(name)", "--json"], input: "content \(index)\n")
                // Some may be refused as names. None is written as it stands.
                guard outcome.status == 0 else { continue }
                attached.append(try node.decode(Attachment.self, outcome.output).id)
            }
            #expect(attached.count >= Self.nastyNames.count / 2, "most of them are names that a file may have")
            try rig.inStep()
            try node.lanyard("wait", "--timeout", "20s")

            try node.shell("mkdir \"$HOME/in\"")
            let outside = try everythingOutside(node)
            var written = 0
            for id in attached {
                let outcome = try node.run(["sh", "-c", "lanyard fetch \(id) -o \"$HOME/in/\" --json"])
                if outcome.status == 0 { written += 1 } else { expectAlreadyExists(node, outcome) }
            }
            #expect(try everythingOutside(node) == outside, "nothing is written elsewhere")
            #expect(try node.run(["test", "-e", "/etc/lanyard-evil"]).status == 1)
            #expect(try node.number("find \"$HOME/in\" -type f | wc -l") == written, "no two were written to one file")
            #expect(try node.number("find \"$HOME/in\" -mindepth 1 ! -type f | wc -l") == 0)
            let contents = try node.number("find \"$HOME/in\" -type f -exec cat {} + | sort -u | wc -l")
            #expect(contents == written, "each file holds what it was fetched for")
        }
    }

    /// Names only: what is there, except the folder that is written to and what the agent keeps.
    private func everythingOutside(_ node: Node) throws -> String {
        try node.output(
            "find \"$HOME/..\" -path \"$HOME/../data\" -prune -o -path '*/home/in' -prune -o -print | sort")
    }

    private func expectAlreadyExists(_ node: Node, _ outcome: Outcome) {
        node.expectRefusal(of: outcome, code: "already_exists", exit: 4)
    }

    @Test func `a file or a link that is in the way stays, unless force is used, and then nobody follows it`() throws {
        try StoryRig.tell { rig in
            let node = rig.node(1)
            try node.put("names/b", [:])
            var ids: [String: String] = [:]
            for name in ["plain.txt", "link.txt", "dangling.txt"] {
                let outcome = try node.lanyard("attach", "names/b", "-", "--name", name, "--json", input: "new\n")
                ids[name] = try node.decode(Attachment.self, outcome.output).id
            }
            try node.shell(
                """
                cd "$HOME" && mkdir taken && echo old >taken/plain.txt && echo mine >victim
                ln -s ../victim taken/link.txt && ln -s ../unborn taken/dangling.txt
                """)
            for (name, id) in ids.sorted(by: { $0.key < $1.key }) {
                let fetch = "cd \"$HOME\" && lanyard fetch \(id) -o taken/ --json"
                expectAlreadyExists(node, try node.run(["sh", "-c", fetch]))
                expectAlreadyExists(
                    node, try node.run(["sh", "-c", "cd \"$HOME\" && lanyard fetch \(id) -o 'taken/\(name)' --json"]))
                if name == "plain.txt" { #expect(try node.output("cat \"$HOME/taken/plain.txt\"") == "old\n") }
                try node.shell(fetch + " --force")
                #expect(try node.output("cat \"$HOME/taken/\(name)\"") == "new\n")
                #expect(try node.run(["sh", "-c", "test -L \"$HOME/taken/\(name)\""]).status == 1, "\(name)")
            }
            #expect(try node.output("cat \"$HOME/victim\"") == "mine\n", "what a link led to is untouched")
            #expect(try node.run(["sh", "-c", "test -e \"$HOME/unborn\""]).status == 1)
            #expect(try node.number("ls -A \"$HOME/taken\" | wc -l") == 3, "no temporary file is left")
        }
    }
}
