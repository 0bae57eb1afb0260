import ControlAPI
import ControlServer
import LanyardClient
import SyncAgent
import Testing

/// Pairing by typed codes: two agents in one process, each with a client, on the loopback interface and without mDNS.
@Suite(.timeLimit(.minutes(20))) struct PairingTests {
    /// Runs two agents for as long as `body`.
    ///
    /// - Parameter hallMilliseconds: the time that a pairing has at hall; nil: the usual one.
    private func withTwo(
        hallMilliseconds: Int64? = nil, _ body: (_ desk: LiveServer, _ hall: LiveServer) async throws -> Void
    ) async throws {
        try await LiveServer.with(named: "desk") { desk async throws in
            try await LiveServer.with(named: "hall", pairingMilliseconds: hallMilliseconds) { hall async throws in
                try await body(desk, hall)
            }
        }
    }

    private func devices(of server: LiveServer) async throws -> Set<String> {
        Set(try await server.client.devices().map(\.id))
    }

    /// Both agents show a code, and no code was typed.
    private func compare(_ desk: LiveServer, _ hall: LiveServer) async throws -> (
        desk: PairingClient, hall: PairingClient, deskCode: String, hallCode: String
    ) {
        let there = PairingClient(hall)
        try await there.waiting()
        let here = PairingClient(desk, try hall.live.address.description)
        let (shownHere, shownThere) = (try await here.code(), try await there.code())
        #expect(shownHere.peer == PairingPeer(id: hall.live.device, shortID: hall.live.shortID, name: "hall"))
        #expect(shownThere.peer == PairingPeer(id: desk.live.device, shortID: desk.live.shortID, name: "desk"))
        return (here, there, shownHere.code, shownThere.code)
    }

    @Test func `codes that are typed crosswise make both devices members`() async throws {
        try await withTwo { desk, hall async throws in
            let (here, there, deskCode, hallCode) = try await compare(desk, hall)
            for code in [deskCode, hallCode] {
                #expect(code.utf8.count == 6 && code.utf8.allSatisfy { (0x30...0x39).contains($0) })
            }
            #expect(deskCode != hallCode)
            // As it is read from a screen.
            #expect(try await desk.client.typePairing(code: "\(hallCode.prefix(3)) \(hallCode.suffix(3))").isTaken)
            try await here.confirmed()
            #expect(try await devices(of: desk) == [desk.live.device], "one code is not enough")
            try await hall.client.typePairing(code: "\(deskCode.prefix(3))-\(deskCode.suffix(3))")
            let (endHere, endThere) = (try await here.paired(), try await there.paired())
            #expect(endHere == (hall.live.device, "hall", .writer))
            #expect(endThere == (desk.live.device, "desk", .writer))
            try await desk.live.converge(with: hall.live)
            let both: Set = [desk.live.device, hall.live.device]
            #expect(try await devices(of: desk) == both)
            #expect(try await devices(of: hall) == both)
            #expect(try await desk.client.status().spaces[0].inStep)
            let error = await #expect(throws: ControlError.self) { try await desk.client.typePairing(code: hallCode) }
            #expect(error?.code == .notPairing)
        }
    }

    @Test func `it does not matter that each names the other's address`() async throws {
        try await withTwo { desk, hall async throws in
            // The first dials an agent that does not pair yet, and is dialled by it later.
            let here = PairingClient(desk, try hall.live.address.description)
            try await here.waiting()
            let there = PairingClient(hall, try desk.live.address.description)
            let (deskCode, hallCode) = (try await here.code().code, try await there.code().code)
            try await desk.client.typePairing(code: hallCode)
            try await hall.client.typePairing(code: deskCode)
            #expect(try await here.paired().device == hall.live.device)
            #expect(try await there.paired().device == desk.live.device)
        }
    }

    @Test func `members that pair again stay members`() async throws {
        try await withTwo { desk, hall async throws in
            try await desk.live.pair(with: hall.live)
            let (here, there, deskCode, hallCode) = try await compare(desk, hall)
            try await desk.client.typePairing(code: hallCode)
            try await hall.client.typePairing(code: deskCode)
            #expect(try await here.paired().device == hall.live.device)
            #expect(try await there.paired().device == desk.live.device)
            try await desk.live.converge(with: hall.live)
            #expect(try await devices(of: desk) == [desk.live.device, hall.live.device])
        }
    }

    @Test func `the code of the own screen is refused, and ends nothing`() async throws {
        try await withTwo { desk, hall async throws in
            let (here, there, deskCode, hallCode) = try await compare(desk, hall)
            for code in [deskCode, "\(deskCode.prefix(3)) \(deskCode.suffix(3))"] {
                let error = await #expect(throws: ControlError.self) { try await desk.client.typePairing(code: code) }
                #expect(error?.code == .invalidArgument && error?.hint.isEmpty == false)
            }
            try await desk.client.typePairing(code: hallCode)
            try await hall.client.typePairing(code: deskCode)
            #expect(try await here.paired().device == hall.live.device)
            #expect(try await there.paired().device == desk.live.device)
        }
    }

    @Test func `a wrong code ends it on both sides, which say so`() async throws {
        try await withTwo { desk, hall async throws in
            let (here, there, deskCode, hallCode) = try await compare(desk, hall)
            let wrong = try #require(["000000", "000001", "000002"].first { ![deskCode, hallCode].contains($0) })
            try await desk.client.typePairing(code: wrong)
            let (error, elsewhere) = (try await here.failed(), try await there.failed())
            #expect(error.code == .wrongCode && error.message.contains("hall") && !error.hint.isEmpty)
            #expect(elsewhere.code == .wrongCode && elsewhere.message.contains("desk") && !elsewhere.hint.isEmpty)
            #expect(try await devices(of: desk) == [desk.live.device])
            #expect(try await devices(of: hall) == [hall.live.device])
            // New codes at once.
            let again = try await compare(desk, hall)
            #expect((again.deskCode, again.hallCode) != (deskCode, hallCode))
            await again.desk.leave()
            await again.hall.leave()
        }
    }

    /// The right code is known at desk, and the wrong one is typed at hall behind it.
    @Test func `one right code and one wrong one pair nothing`() async throws {
        try await withTwo { desk, hall async throws in
            let (here, there, deskCode, hallCode) = try await compare(desk, hall)
            try await desk.client.typePairing(code: hallCode)
            try await here.confirmed()
            let wrong = try #require(["000000", "000001", "000002"].first { ![deskCode, hallCode].contains($0) })
            try await hall.client.typePairing(code: wrong)
            #expect(try await here.failed().code == .wrongCode)
            #expect(try await there.failed().code == .wrongCode)
            #expect(try await devices(of: desk) == [desk.live.device])
            #expect(try await devices(of: hall) == [hall.live.device])
        }
    }

    @Test func `a pairing whose time is over ends in a sentence on both sides, and takes no code`() async throws {
        try await withTwo(hallMilliseconds: 40_000) { desk, hall async throws in
            let (here, there, deskCode, hallCode) = try await compare(desk, hall)
            try await desk.client.typePairing(code: hallCode)
            try await here.confirmed()
            // The other code is typed too late.
            let (elsewhere, error) = (try await here.failed(), try await there.failed())
            #expect(error.code == .timedOut && !error.hint.isEmpty)
            #expect(error.message == "No pairing within 40 seconds. Nothing was paired.")
            #expect(elsewhere.code == .timedOut && !elsewhere.hint.isEmpty)
            #expect(elsewhere.message.hasPrefix("The time to pair is over on hall (\(hall.live.shortID)). "))
            for (server, code) in [(desk, hallCode), (hall, deskCode)] {
                let late = await #expect(throws: ControlError.self) { try await server.client.typePairing(code: code) }
                #expect(late?.code == .notPairing && late?.hint.isEmpty == false)
                #expect(try await devices(of: server) == [server.live.device])
            }
        }
    }

    @Test func `the code of an earlier exchange is a wrong one in the next`() async throws {
        try await withTwo { desk, hall async throws in
            let earlier = try await compare(desk, hall)
            await earlier.desk.leave()
            #expect(try await earlier.hall.failed().code == .pairingEnded)
            let (here, there, deskCode, hallCode) = try await compare(desk, hall)
            #expect(![deskCode, hallCode].contains(earlier.hallCode))
            try await desk.client.typePairing(code: earlier.hallCode)
            let (error, elsewhere) = (try await here.failed(), try await there.failed())
            #expect(error.code == .wrongCode && error.message.contains("hall"))
            #expect(elsewhere.code == .wrongCode && elsewhere.message.contains("desk"))
            #expect(try await devices(of: desk) == [desk.live.device])
            #expect(try await devices(of: hall) == [hall.live.device])
        }
    }

    @Test func `a client that goes away cancels, and a pairing can be opened at once`() async throws {
        try await withTwo { desk, hall async throws in
            let (here, there, _, _) = try await compare(desk, hall)
            let error = await #expect(throws: ControlError.self) { try await desk.client.pair { _ in } }
            #expect(error?.code == .alreadyPairing && error?.hint.isEmpty == false)
            await here.leave()
            let ended = try await there.failed()
            #expect(ended.code == .pairingEnded && ended.message.contains("desk"))
            // The other device heard of it, so it is over here.
            for server in [desk, hall] {
                let next = PairingClient(server)
                try await next.waiting()
                await next.leave()
            }
            #expect(try await devices(of: desk) == [desk.live.device])
        }
    }

    @Test func `an agent that stops ends the pairing on the other device`() async throws {
        try await LiveServer.with(named: "hall") { hall async throws in
            let there = PairingClient(hall)
            try await there.waiting()
            try await LiveServer.with(named: "desk") { desk async throws in
                let here = PairingClient(desk, try hall.live.address.description)
                _ = try await (here.code(), there.code())
                await desk.live.stop()
                await here.leave()
            }
            let error = try await there.failed()
            #expect(error.code == .pairingEnded && error.message.contains("desk"))
        }
    }

    // MARK: Which device

    @Test func `a device is named by its name or the beginning of its id`() async throws {
        try await LiveServer.with(named: "cellar") { cellar async throws in
            try await withTwo { desk, hall async throws in
                for word in ["desk", desk.live.shortID.lowercased(), String(desk.live.device.prefix(4))] {
                    let there = PairingClient(hall, word)
                    try await there.waiting()
                    let address = try hall.live.address.description
                    let (here, other) = (PairingClient(desk, address), PairingClient(cellar, address))
                    #expect(try await there.code().peer.id == desk.live.device, "\(word)")
                    #expect(try await here.code().peer.id == hall.live.device, "\(word)")
                    for client in [here, other, there] { await client.leave() }
                    for server in [desk, cellar, hall] {
                        try await server.live.until { agent async throws in
                            try await agent.pairing()?.outcome != nil
                        }
                    }
                }
            }
        }
    }

    @Test func `of several devices that pair the person chooses one`() async throws {
        try await LiveServer.with(named: "attic") { attic async throws in
            try await withTwo { desk, hall async throws in
                // None is chosen by itself, however late the second one comes.
                let there = PairingClient(hall, "no such name")
                try await there.waiting()
                let address = try hall.live.address.description
                let (first, second) = (PairingClient(desk, address), PairingClient(attic, address))
                let found = try await there.choices([desk.live.device, attic.live.device])
                #expect(found.map(\.name) == ["attic", "desk"])
                #expect(found.allSatisfy { $0.via == "incoming" && !$0.isMember && !$0.address.isEmpty })
                let error = await #expect(throws: ControlError.self) {
                    try await hall.client.choosePairing(device: hall.live.device)
                }
                #expect(error?.code == .unknownDevice)
                #expect(try await hall.client.choosePairing(device: attic.live.device).isTaken)
                #expect(try await second.code().peer.id == hall.live.device)
                #expect(try await there.code().peer.id == attic.live.device)
                for client in [there, first, second] { await client.leave() }
            }
        }
    }

    @Test func `a blocked device is no candidate`() async throws {
        try await withTwo { desk, hall async throws in
            try await desk.live.pair(with: hall.live)
            _ = try await hall.live.agent.block(space: "home", device: desk.live.device)
            try await LiveServer.with(named: "attic") { attic async throws in
                let there = PairingClient(hall)
                try await there.waiting()
                let address = try hall.live.address.description
                let blocked = PairingClient(desk, address)
                try await blocked.waiting()
                let other = PairingClient(attic, address)
                // The blocked device came first.
                #expect(try await there.code().peer.id == attic.live.device)
                #expect(try await other.code().peer.id == hall.live.device)
                for client in [there, blocked, other] { await client.leave() }
            }
        }
    }
}
