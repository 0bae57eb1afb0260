import SyncModel
import Testing

/// Names that others gave, as names of files.
struct FileNamesTests {
    private static func name(_ wanted: String) -> String {
        var names = FileNames()
        return names.name(for: wanted)
    }

    @Test(arguments: [
        "../../etc/passwd", "/etc/passwd", "..\\..\\boot.ini", "C:\\x", "a/b", ".", "..", "...", "", " ", "~root",
        "-rf",
        ".bashrc", "a\u{0}b", "a\nb", "x\u{202e}gpj.exe", "con", "CON.png", "nul.", "Com1.txt", "LPT9", "COM¹.x", "a. ",
        "trailing...", "tab\u{9}", "\u{feff}bom", "pipe|", "que?", "star*",
    ])
    func `whatever the name, the file is in the folder and reads as what it is`(wanted: String) {
        let name = Self.name(wanted)
        #expect(!name.isEmpty && name != "." && name != "..")
        #expect(!name.contains { "/\\:*?\"<>|".contains($0) })
        #expect(
            name.unicodeScalars.allSatisfy { ![.control, .format].contains($0.properties.generalCategory) }, "\(name)")
        #expect(!".-~ ".contains(name.first!) && !". ".contains(name.last!))
        let stem = name.prefix { $0 != "." }.uppercased()
        #expect(!["CON", "NUL", "COM1", "LPT9", "COM¹"].contains(stem))
    }

    @Test(arguments: ["Holiday.jpg", "Überraschung.pdf", "写真.png", "a (1).txt", "no suffix", "archive.tar.gz", "👩🏽‍🚀"])
    func `a harmless name stays as it is`(wanted: String) {
        // A joiner is no name of a file.
        let harmless = wanted.unicodeScalars.allSatisfy { $0.properties.generalCategory != .format }
        #expect((Self.name(wanted) == wanted) == harmless)
    }

    @Test func `twins are told apart, also those of another file system`() {
        var names = FileNames()
        let given = [
            "a.png", "a.png", "A.PNG", "caf\u{e9}.txt", "cafe\u{301}.txt", "CAFÉ.txt", "straße", "STRASSE", "a (2).png",
        ]
        .map { names.name(for: $0) }
        #expect(given[0] == "a.png" && given[1] == "a (2).png")
        #expect(Set(given.map { $0.lowercased().uppercased().lowercased() }).count == given.count, "\(given)")
    }

    @Test func `a name of any length fits, and keeps what it ends in`() {
        for wanted in [
            String(repeating: "x", count: 4_000) + ".jpeg", String(repeating: "é", count: 300) + ".pdf",
            String(repeating: "y", count: 600), "a." + String(repeating: "z", count: 600),
        ] {
            var names = FileNames()
            for _ in 0..<12 {
                let name = names.name(for: wanted)
                #expect(name.utf8.count <= 255)
                if wanted.hasSuffix(".jpeg") { #expect(name.hasSuffix(".jpeg")) }
            }
        }
    }
}
