import ArgumentParser
import ControlAPI
import LanyardClient

struct Pair: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Pair with another device by the codes on both screens.",
        discussion: """
            Type it on both devices. Each finds the other and shows six digits; on each, type the digits of the other \
            screen. It is open for two minutes. In a script, or where nobody sits: lanyard invite.
            """)
    @Argument(help: "The device: its name, the beginning of its id, or HOST:PORT. Any that pairs when left out.")
    var device: String?
    @Option(help: "What the other device may do.")
    private var role = InvitedRole.writer
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let client = try global.client()
        Interruption.explain(
            "Pairing was stopped. Nothing was paired.", hint: "To begin anew, type on both devices: lanyard pair",
            asJSON: global.json)
        let conversation = PairingConversation(
            client: client, global: global, isAsked: device == nil)
        try await client.pair(PairRequest(device: device, role: role.role)) { line in
            try await conversation.handle(line)
        }
    }
}

/// The talk with the person at a terminal, or with a program, while two devices pair: shows what happens, reads what is typed.
private actor PairingConversation {
    private let client: LanyardClient
    private let global: GlobalOptions
    /// True if the person chooses among several devices.
    private let isAsked: Bool
    private let input = BlockingThread()
    /// Devices that were shown.
    private var known: Set<PairingDevice> = []
    /// The devices to choose from; empty while there is nothing to choose.
    private var choices: [PairingDevice] = []
    private var peer: PairingPeer?
    private var isConfirmed = false
    private var isReading = false

    init(client: LanyardClient, global: GlobalOptions, isAsked: Bool) {
        self.client = client
        self.global = global
        self.isAsked = isAsked
    }

    func handle(_ line: PairingLine) async throws {
        switch line {
        case .waiting:
            try show(line)
            global.note("Type `lanyard pair` on the other device, too. Looking for it, for two minutes …")
        case .devices(let devices): try handle(devices)
        case .code(let code, let peer):
            self.peer = peer
            choices = []
            try show(line)
            global.note("Found \(name(peer.name, peer.shortID)).")
            try say("Your code: \(code.prefix(3)) \(code.suffix(3))\n")
            try askCode()
        case .confirmed:
            isConfirmed = true
            if let peer { global.note("The code is right. Waiting for the same on \(shown(peer.name)) …") }
        case .paired(let device, let name, let role):
            try show(line)
            if !global.json { try await end(device, name, role) }
        case .failed(let error):
            if isReading, !global.json, StandardOutput.isTerminal { try say("\n") }
            throw error
        }
    }

    /// A line for programs.
    private func show(_ line: PairingLine) throws {
        if global.json { try StandardOutput.write(json: JSONEncoding.bytes(line) + [0x0A]) }
    }

    private func say(_ text: String) throws {
        if !global.json { try StandardOutput.write(text) }
    }

    private func name(_ name: String, _ shortID: String?) -> String {
        shortID.map { "\(shown(name)) (\($0))" } ?? shown(name)
    }

    // MARK: Which device

    private func handle(_ devices: [PairingDevice]) throws {
        for device in devices where known.insert(device).inserted {
            let ways = ["mdns": "found by mDNS", "address": "at the address given", "incoming": "it called"]
            let way = ways[device.via] ?? shown(device.via)
            let member = device.isMember ? ", a member already" : ""
            if device.id == nil {
                global.note("On the network: \(shown(device.name)) at \(shown(device.address)). It does not pair yet.")
            } else {
                global.note(
                    "Pairs now: \(name(device.name, device.shortID)) at \(shown(device.address)), \(way)\(member).")
            }
        }
        let ready = devices.filter { $0.id != nil }
        let isChoice = isAsked && ready.count > 1
        guard isChoice, ready != choices else {
            if !isChoice { choices = [] }
            return
        }
        choices = ready
        try show(.devices(ready))
        try say("Several devices pair right now:\n")
        for (index, device) in ready.enumerated() {
            try say("  \(index + 1)  \(name(device.name, device.shortID)) at \(shown(device.address))\n")
        }
        try say("Which one (number)? ")
        read()
    }

    private func choose(_ word: String) async throws {
        let number = Int(word).flatMap { choices.indices.contains($0 - 1) ? choices[$0 - 1] : nil }
        let named = choices.filter { $0.name == word || $0.id == word || $0.shortID == word.uppercased() }
        guard let device = number ?? (named.count == 1 ? named[0] : nil), let id = device.id else {
            try say("Give a number from 1 to \(choices.count): ")
            return read()
        }
        choices = []
        try await client.choosePairing(device: id)
        global.note("Waiting for \(shown(device.name)) to choose this device …")
    }

    // MARK: The code

    private func askCode() throws {
        try say("Code on the other screen: ")
        read()
    }

    /// Reads one line of standard input beside the pairing, which may end meanwhile.
    private func read() {
        guard !isReading else { return }
        isReading = true
        input.async {
            let line = readLine()
            Task { await self.handleTyped(line) }
        }
    }

    private func handleTyped(_ line: String?) async {
        isReading = false
        guard let line else {
            Failure.say(
                ControlError(
                    .invalidArgument, "Standard input ended before a code was typed. Nothing was paired.",
                    hint: "Without a terminal, use a ticket: lanyard invite"), asJSON: global.json)
            Program.exit(.usage)
        }
        do {
            if peer != nil {
                if isConfirmed { return }
                try await type(line)
            } else if !choices.isEmpty {
                try await choose(line)
            } else {
                read()
            }
        } catch {
            // The pairing ended meanwhile; its last line says why.
            return
        }
    }

    private func type(_ code: String) async throws {
        do throws(ControlError) {
            try await client.typePairing(code: code)
        } catch  where error.code == .invalidArgument {
            try say("A code has six digits. ")
            try askCode()
        }
    }

    // MARK: The end

    private func end(_ device: String, _ name: String, _ role: Role) async throws {
        try say("Paired with \(self.name(name, String(device.prefix(7)))) as \(role.rawValue).\n")
        guard !global.quiet else { return }
        // Both dial each other now; what is not in step within two seconds, `status` tells later.
        _ = try? await client.wait(connectedOnly: true, timeoutMilliseconds: 2_000)
        if let space = try? await client.status(space: "home").spaces.first {
            try say(StandingText(standings: space.standings).sentence(isInStep: space.inStep) + "\n")
        }
        try say("Next: lanyard status\n")
    }
}
