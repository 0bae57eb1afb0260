import Testing

extension RigSuites {
    /// `lanyard wait` before a machine is switched off.
    @Suite struct InStepTests {
        struct Waited: Decodable {
            struct Device: Decodable {
                let name: String
                let unsent: Int?
            }
            let inStep: Bool
            let waitingFor: [Device]
        }

        @Test func `wait names the device that is off and lacks something, and succeeds once it is back`() throws {
            try Rig.with(3) { rig in
                let one = rig.node(1)
                try one.lanyard("wait", "--peers", "2", "--timeout", "10s")
                try rig("stop", "3")
                // It had everything, so nothing is lost with this machine.
                try one.lanyard("wait", "--timeout", "5s")
                try one.emit(12, to: "unsent")
                try one.lanyard("wait", "--connected", "--timeout", "5s")
                let run = try one.run(["lanyard", "wait", "--timeout", "2s"])
                #expect(run.status == 6)
                #expect(run.errors.contains("node3 away since"), "\(run.errors)")
                #expect(run.errors.contains("12 changes unsent"), "\(run.errors)")
                let json = try one.run(["lanyard", "wait", "--json", "--timeout", "1s"])
                let answer = try one.decode(Waited.self, json.output)
                #expect(!answer.inStep && answer.waitingFor.map(\.name) == ["node3"])
                #expect(answer.waitingFor.first?.unsent == 12)
                let sentence = try #require(try one.lanyard("status").lines.first)
                #expect(sentence.hasPrefix("In step with 1 of 2 devices; node3 away since "), "\(sentence)")
                #expect(sentence.hasSuffix(", 12 changes unsent."), "\(sentence)")
                // After a restart, too: it is not known any more that node 3 lacks only these.
                try rig("stop", "1")
                try rig("start", "1")
                #expect(try one.run(["lanyard", "wait", "--timeout", "2s"]).status == 6)
                try rig("start", "3")
                try one.lanyard("wait", "--timeout", "10s")
            }
        }

        @Test func `what is written alone counts as unsent before it is signed`() throws {
            try Rig.with(2) { rig in
                let one = rig.node(1)
                try one.lanyard("wait", "--peers", "1", "--timeout", "10s")
                try rig("stop", "2")
                try eventually(within: .seconds(5), "node 1 is alone") { try one.connected().isEmpty }
                try one.lanyard("put", "task/milk", #"{"title":"milk"}"#)
                let run = try one.run(["lanyard", "wait", "--timeout", "1s"])
                #expect(run.status == 6 && run.errors.contains("1 change unsent"), "\(run.errors)")
                // Nobody waits for a device that was retired.
                try one.lanyard("devices", "retire", "node2", "--yes")
                try one.lanyard("wait", "--timeout", "5s")
            }
        }
    }
}
