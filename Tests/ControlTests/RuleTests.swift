import ControlAPI
import Testing

@Suite struct RuleTests {
    @Test(arguments: ["a", "two words", "é", String(repeating: "x", count: 128), "a.b-c_d", "~"])
    func `good names pass`(name: String) throws { try NameRule.check(name, is: .stream) }

    @Test(arguments: [
        "", "a/b", "a\nb", "\u{7F}", "\u{85}", String(repeating: "x", count: 129), String(repeating: "é", count: 65),
    ])
    func `bad names are refused with a sentence and a hint`(name: String) {
        let error = #expect(throws: ControlError.self) { try NameRule.check(name, is: .stream) }
        #expect(error?.code == .invalidName)
        #expect(error?.hint.isEmpty == false)
        // The name itself may be somebody's data; it is not repeated.
        #expect(name.isEmpty || error?.message.contains(name) == false)
    }

    @Test(arguments: [("7", EventPosition.arrival(7)), ("0", .arrival(0)), ("k1:2@3", .canonical("k1:2@3"))])
    func `positions read back`(text: String, position: EventPosition) throws {
        #expect(try EventPosition(parsing: text) == position)
        #expect(position.text == text)
    }

    @Test(arguments: ["", "-1", "1.5", "a b", "99999999999999999999", "é", String(repeating: "a", count: 513)])
    func `other texts are not positions`(text: String) {
        #expect(throws: ControlError.self) { try EventPosition(parsing: text) }
    }

    @Test(arguments: [
        ("192.168.1.2:21817", "192.168.1.2", 21817), ("host.local:1", "host.local", 1),
        ("[fe80::1%eth0]:65535", "fe80::1%eth0", 65535),
    ])
    func `addresses read back`(text: String, host: String, port: Int) throws {
        let address = try HostPort(parsing: text)
        #expect(address == HostPort(host: host, port: port))
        #expect(address.description == text)
    }

    @Test(arguments: ["", "host", "host:", "host:0", "host:65536", ":1", "fe80::1:1", "a b:1", "[]:1", "h:+1"])
    func `other texts are not addresses`(text: String) {
        #expect(throws: ControlError.self) { try HostPort(parsing: text) }
    }

    @Test func `every code has a status, an exit code and a text of its own`() {
        for code in ErrorCode.allCases {
            #expect((400...599).contains(code.httpStatus))
            #expect(code.exitCode != .ok)
            #expect(code.rawValue.allSatisfy { $0.isLowercase || $0.isNumber || $0 == "_" })
            let error = ControlError(code, "m", hint: "h", line: 3, written: 2, version: DotText("r:7"))
            let read = try? JSONDecoding.value(
                ErrorResponse.self, from: ErrorResponse(error).bytes, unknownKeys: .ignore)
            #expect(read?.controlError == error)
        }
    }

    @Test func `the promised exit codes are these`() {
        #expect(ExitCode.allCases.map(\.rawValue) == [0, 1, 2, 3, 4, 5, 6])
        #expect(ErrorCode.agentNotRunning.exitCode.rawValue == 5)
        #expect(ErrorCode.timedOut.exitCode.rawValue == 6)
        #expect(ErrorCode.unknownPeer.exitCode.rawValue == 3)
        #expect(ErrorCode.readOnly.exitCode.rawValue == 4)
        #expect(ErrorCode.invalidName.exitCode.rawValue == 2)
    }

    @Test func `a version vector reads the same however it was built`() {
        let entries = ["b", "a", "c"].map { VersionVectorText.Entry(replica: $0, next: 1) }
        let text = String(decoding: JSONEncoding.bytes(VersionVectorText(entries)), as: UTF8.self)
        #expect(text == #"{"a":1,"b":1,"c":1}"#)
    }
}
