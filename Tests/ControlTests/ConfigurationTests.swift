import ControlAPI
import Foundation
import Logging
import SyncAgent
import Testing

/// The agent's configuration file, and what it refuses.
@Suite struct ConfigurationTests {
    private func layer(_ text: String) throws -> ConfigurationLayer {
        try ConfigurationLayer(text: text, path: "c.toml")
    }

    @Test func `settings are read as TOML has them`() throws {
        let values = try layer(
            "\u{FEFF}# a comment\r\n\n"
                + #"""
                name = "kit\u0063hen \"2\" \U0001F600"   # people call it so
                "data-dir" = '/tmp/a\b'
                  upload-limit=1_000
                download-limit = "10M"
                mdns = false
                socket = "a\tb#c"
                """#
        ).values
        #expect(
            values == [
                .name: "kitchen \"2\" 😀", .dataDirectory: #"/tmp/a\b"#, .uploadLimit: "1000", .downloadLimit: "10M",
                .mdns: "off", .socket: "a\tb#c",
            ])
        #expect(try layer("").values.isEmpty)
    }

    @Test(arguments: [
        ("[[[", "c.toml line 1: sections are not known here; write KEY = VALUE"),
        ("\n\nlog-level = off", "c.toml line 3: put the value of log-level in quotes"),
        ("name", "c.toml line 1: write an = behind name"), ("name =", "c.toml line 1: give name a value"),
        ("name = \"a", "c.toml line 1: close the quotes of the value of name"),
        ("name = \"a\" b", "c.toml line 1: leave out what follows the value of name"),
        ("name = \"\"\"a\"\"\"", "c.toml line 1: write the value of name on one line, in one quote"),
        (
            "name = \"\\x\"",
            "c.toml line 1: write a backslash in the value of name twice, or the whole in single quotes"
        ),
        ("name = \"\\ud800\"", "c.toml line 1: \\u in the value of name needs 4 hexadecimal digits"),
        ("name = \"a\"\nname = \"b\"", "c.toml line 2: name is set twice; leave one of them"),
        ("= 1", "c.toml line 1: begin with a key, like name = \"kitchen\""),
        ("name = [\"a\"]", "c.toml line 1: put the value of name in quotes"),
    ])
    func `what cannot be read is named with its line, and what to do`(text: String, message: String) {
        let error = #expect(throws: ConfigurationError.self) { try layer(text) }
        #expect(error?.description == message)
    }

    @Test func `no text stops the process`() {
        let pieces = [
            "[", "]", "\"", "'", "\\", "u", "\n", "=", "name", "0", "_", "+", "\u{0}", "\u{10FFFF}", "#", "{", "\r",
        ]
        var random = SystemRandomNumberGenerator()
        for _ in 0..<20_000 {
            let text = (0..<Int.random(in: 0...12, using: &random)).map { _ in pieces.randomElement(using: &random)! }
            _ = try? layer(text.joined())
        }
    }

    @Test func `what is printed is read back the same`() throws {
        var configuration = try AgentConfiguration(
            layers: [layer("name = \"a\\\\b\\\"c\"")], environment: [:], hostName: "h")
        configuration.socketPath = "/tmp/\u{1}\u{7F}é\\x"
        let read = try AgentConfiguration(layers: [layer(configuration.toml)], environment: [:], hostName: "h")
        #expect(read == configuration)
    }

    @Test(arguments: ["", "a\nb", "a\u{7F}", "a\u{9B}2J", "\u{80}", String(repeating: "x", count: 129)])
    func `a name that other devices would refuse is refused at once`(name: String) {
        let error = #expect(throws: ConfigurationError.self) {
            try AgentConfiguration(layers: [ConfigurationLayer([.name: name])], environment: [:], hostName: "h")
        }
        #expect(error?.description.contains("1 to 128 bytes without control characters") == true)
    }

    @Test func `what is announced is an address`() throws {
        for address in ["10.0.0.9", "fd00::1"] {
            let read = try AgentConfiguration(
                layers: [ConfigurationLayer([.announce: address])], environment: [:], hostName: "h")
            #expect(read.announce == address)
        }
        for wrong in ["", "bla", "10.0.0", "10.0.0.9:80"] {
            let error = #expect(throws: ConfigurationError.self) {
                try AgentConfiguration(
                    layers: [ConfigurationLayer([.announce: wrong])], environment: [:], hostName: "h")
            }
            #expect(error?.description.contains("an IP address") == true)
        }
    }

    @Test func `a log is written as soon as its directory is there`() throws {
        let temporary = try TemporaryDirectory()
        let directory = "\(temporary.path)/data"
        let log = AgentLog(directory: directory, format: .text, echoes: false)
        log.logger(level: .info).info("Lost.")
        mkdir(directory, 0o700)
        log.logger(level: .info).info("Kept.")
        #expect(log.recentLines(limit: 10).count == 1)
    }

    @Test(arguments: [AgentConfiguration.LogFormat.text, .json])
    func `a log line has its time with the zone`(format: AgentConfiguration.LogFormat) throws {
        let temporary = try TemporaryDirectory()
        let log = AgentLog(directory: temporary.path, format: format, echoes: false)
        log.logger(level: .info).info("Kept.")
        let line = try #require(log.recentLines(limit: 1).first)
        let text = format == .text ? line[...] : line.dropFirst(#"{"time":""#.count)
        let time = text.prefix { $0 != " " && $0 != "\"" }
        #expect(Timestamp(String(time)) != nil, "\(line)")
    }

    @Test func `a log line shows nothing that a terminal obeys`() {
        #expect(AgentLog.plain("a\u{9B}b\u{202E}c\n\(Unicode.Scalar(0xFDD0)!)é") == "a?b?c??é")
    }
}
