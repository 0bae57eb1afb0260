import ControlAPI
import Crypto
import Foundation
import LanyardClient
import Testing
import lanyard

/// QR codes of tickets. The expected codes are those of python-qrcode 8 for the same bytes, version, level and mask.
@Suite(.timeLimit(.minutes(20))) struct QRCodeTests {
    private func rows(_ code: QRCode) -> [String] {
        (0..<code.side).map { row in String((0..<code.side).map { code[row, $0] ? "#" : "." as Character }) }
    }

    @Test func `a short text is the code that another program draws`() throws {
        let code = try #require(QRCode(Array("lanyard".utf8)))
        #expect(code.mask == 2)
        let expected = [
            "#######..####.#######",
            "#.....#..#..#.#.....#",
            "#.###.#.###.#.#.###.#",
            "#.###.#.##..#.#.###.#",
            "#.###.#.#.#.#.#.###.#",
            "#.....#.#..#..#.....#",
            "#######.#.#.#.#######",
            "........#.#..........",
            "#.#####..#.#..#####..",
            ".....#..##.#####..#.#",
            "..##..#####.#.##.###.",
            "#.#....##..#####.##..",
            "...#.####...#......##",
            "........##..#..###..#",
            "#######..###.#.....#.",
            "#.....#.#......######",
            "#.###.#.#..#.#.#.#.#.",
            "#.###.#.#######.#....",
            "#.###.#.#.#.#.#..##..",
            "#.....#..######..##..",
            "#######.#...#..#...#.",
        ]
        #expect(rows(code) == expected)
    }

    /// The greatest text of a version and the least of the next one, one block and several.
    @Test(arguments: [
        (String(repeating: "A", count: 14), 21, 3, "418f9a4333bbc219cafb50013459d1cc544ec3a5564c40ce2aa6f2a92928d9d6"),
        (String(repeating: "B", count: 15), 25, 3, "29615383f9dbd2af929ad7419f6e626db08940aaeac4060f689128e02439d458"),
        (String(repeating: "0", count: 62), 33, 3, "fd2d39107eac56d0935019c6ab524392fff149941a746c44961e3653e460b422"),
        (String(repeating: "x", count: 63), 37, 2, "952bd67e6a9b1f11681ae16d531d53e6da4c07736774af4db06493f6e2124096"),
        (
            String(repeating: "lanyard:", count: 10) + "end", 37, 2,
            "67569db693606e92e34619e6c473c116be5624348dd8e142efbebf84d6b3eaf1"
        ),
        (String(repeating: "z", count: 106), 41, 3, "7fa8fb7eb19a72802344d8424de9428665cbaadb18694729d88544c0b4002c1c"),
    ])
    func `longer texts are, too`(text: String, side: Int, mask: Int, hash: String) throws {
        let code = try #require(QRCode(Array(text.utf8)))
        #expect(code.side == side && code.mask == mask)
        let bits = rows(code).joined().map { $0 == "#" ? "1" : "0" }.joined()
        #expect(SHA256.hash(data: Data(bits.utf8)).map { String(format: "%02x", $0) }.joined() == hash)
    }

    @Test func `more than 106 bytes have no code, and none have one`() {
        #expect(QRCode(Array(repeating: 0, count: 107)) == nil)
        #expect(QRCode([])?.side == 21)
    }

    @Test func `in a terminal it has its margin, and light modules are drawn`() throws {
        let code = try #require(QRCode(Array("lanyard".utf8)))
        let lines = code.lines
        #expect(lines.count == 15 && lines.allSatisfy { $0.count == 29 })
        #expect(lines[0].allSatisfy { $0 == "█" } && lines[1] == lines[0] && lines[14].allSatisfy { $0 == "█" })
        // The first two rows: a finder's edge, and the light ring inside it.
        #expect(lines[2].hasPrefix("████ ▄▄▄▄▄ █"))
        #expect(lines.allSatisfy { $0.hasPrefix("████") && $0.hasSuffix("████") })
    }

    @Test func `invite draws its ticket when it is asked to`() async throws {
        try await LiveServer.with { server async throws in
            let run = try await CommandRun.lanyard(["invite", "--qr"], socket: server.socketPath)
            let ticket = try #require(run.lines.first)
            let code = try #require(QRCode(Array(ticket.utf8)))
            #expect(run.output.contains(code.lines.joined(separator: "\n")), "\(run.output)")
            #expect(run.errors.contains("lanyard join -"), "\(run.errors)")
            let plain = try await CommandRun.lanyard(["invite"], socket: server.socketPath)
            #expect(!plain.output.contains("█"))
        }
    }

    @Test func `id prints the id alone, and draws it when it is asked to`() async throws {
        try await LiveServer.with { server async throws in
            let device = server.live.device
            for flags in [[], ["--quiet"]] {
                let run = try await CommandRun.lanyard(["id"] + flags, socket: server.socketPath)
                #expect(run.exitCode == 0 && run.output == device + "\n" && run.errors.isEmpty, "\(run.errors)")
            }
            let drawn = try await CommandRun.lanyard(["id", "--qr"], socket: server.socketPath)
            let code = try #require(QRCode(Array(device.utf8)))
            #expect(drawn.output == "\(device)\n\n\(code.lines.joined(separator: "\n"))\n")
            let json = try await CommandRun.lanyard(["id", "--json"], socket: server.socketPath)
            let answer = try #require(try json.json() as? [String: String], "\(json.output)")
            #expect(answer == ["id": device, "shortID": server.live.shortID, "name": "desk"])
        }
    }

    @Test(arguments: ["id", "invite"])
    func `a terminal that would break the lines of a code is told its width instead`(command: String) async throws {
        try await LiveServer.with { server async throws in
            func run(columns: Int) async throws -> CommandRun {
                try await CommandRun.lanyard(
                    [command, "--qr"], socket: server.socketPath, environment: ["COLUMNS": "\(columns)"])
            }
            let narrow = try await run(columns: 30)
            let text = try #require(narrow.lines.first)
            let code = try #require(QRCode(Array(text.utf8)))
            #expect(narrow.exitCode == 0 && !narrow.output.contains("█"), "\(narrow.output)")
            let reason = "needs \(code.width) columns, and this terminal has 30."
            #expect(narrow.errors.contains(reason), "\(narrow.errors)")
            #expect(!narrow.errors.contains("zbarcam"))
            #expect(try await !run(columns: code.width - 1).output.contains("█"))
            let wide = try await run(columns: code.width)
            #expect(wide.output.contains("█") && !wide.errors.contains("columns"), "\(wide.errors)")
            #expect(wide.lines.filter { $0.contains("█") }.allSatisfy { $0.count == code.width })
        }
    }

    @Test(arguments: ["--json", "--quiet"]) func `a program gets the text, and no picture`(flag: String) async throws {
        for command in ["id", "invite"] {
            let run = try await CommandRun.lanyard([command, "--qr", flag])
            #expect(run.exitCode == 2 && run.errors.contains("without it, \(flag) gives"), "\(run.errors)")
        }
    }
}
