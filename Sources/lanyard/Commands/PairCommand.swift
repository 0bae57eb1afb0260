import ArgumentParser
import ControlAPI
import LanyardClient

struct Pair: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Pair with another device by the codes on both screens.",
        discussion: """
            Type it on both devices. Each finds the other and shows six digits; on each, type the digits of the other \
            screen. It is open for two minutes. The device of the smaller space joins that of the larger one, with the role that \
            was named there. In a script, or for a machine without a screen: lanyard invite.
            """)
    @Argument(help: "The device: its name, the beginning of its id, or HOST:PORT. Any that pairs when left out.")
    var device: String?
    @Option(help: "What the other device may do, if it joins this one; at most what this one may.")
    private var role = InvitedRole.writer
    @Option(help: ArgumentHelp(MembershipEnd.help, valueName: "date"))
    var until: String?
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let end = try MembershipEnd.parse(until, now: .now)
        let client = try global.client()
        if role == .admin, StandardInput.isTerminal { await RecoveryHint.note(client, global) }
        Interruption.explain(
            "Pairing was stopped.",
            hint: "`lanyard devices` tells whether it was done before. To begin anew, type on both: lanyard pair",
            asJSON: global.json)
        let conversation = PairingConversation(client: client, global: global)
        try await client.pair(PairRequest(device: device, role: role.role, until: end)) { line in
            try await conversation.handle(line)
        }
    }
}

/// The talk with the person at a terminal, or with a program, while two devices pair: shows what happens, reads what is typed.
private actor PairingConversation {
    private let client: LanyardClient
    private let global: GlobalOptions
    private let input = BlockingThread()
    /// Devices that were shown: the ids of those that pair, the hosts of others.
    private var known: Set<String> = []
    /// The devices to choose from; empty while there is nothing to choose.
    private var choices: [PairingDevice] = []
    private var peer: PairingPeer?
    private var isConfirmed = false
    private var isReading = false

    init(client: LanyardClient, global: GlobalOptions) {
        self.client = client
        self.global = global
    }

    func handle(_ line: PairingLine) async throws {
        switch line {
        case .waiting:
            try show(line)
            global.note("Type `lanyard pair` on the other device, too. Looking for it, for two minutes …")
        case .devices(let devices): handle(devices)
        case .choose(let devices):
            choices = devices
            try show(line)
            try askChoice()
        case .code(let code, let peer):
            self.peer = peer
            choices = []
            try show(line)
            global.note("Pairing with \(name(peer.name, peer.shortID)).")
            try say("Your code: \(code.prefix(3)) \(code.suffix(3))\n")
            try askCode()
        case .confirmed:
            isConfirmed = true
            try show(line)
            if let peer { global.note("The code is right. Waiting for the same on \(shown(peer.name)) …") }
        case .paired(let device, let name, let role, let joined):
            try show(line)
            if !global.json { try await end(device, name, role, joined) }
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

    private func handle(_ devices: [PairingDevice]) {
        for device in devices where known.insert(device.id ?? "\(device.name) \(device.address)").inserted {
            let ways = ["mdns": "found by mDNS", "address": "at the address given", "incoming": "it called"]
            let way = ways[device.via] ?? shown(device.via)
            let member = device.isMember ? ", a member already" : ""
            if device.id == nil {
                global.note(
                    "On the network: \(shown(device.name)) at \(shown(device.address)), \(way). It does not pair yet.")
            } else {
                global.note(
                    "Pairs now: \(name(device.name, device.shortID)) at \(shown(device.address)), \(way)\(member).")
            }
        }
        // Until the agent asks anew, a device that left is no choice.
        choices.removeAll { choice in !devices.contains { $0.id == choice.id } }
    }

    private func askChoice() throws {
        try say(choices.count == 1 ? "This device pairs right now:\n" : "These devices pair right now:\n")
        for (index, device) in choices.enumerated() {
            try say("  \(index + 1)  \(name(device.name, device.shortID)) at \(shown(device.address))\n")
        }
        try say("Which one (number)? ")
        read()
    }

    private func choose(_ word: String) async throws {
        let numbers = choices.indices.map { String($0 + 1) }
        let named = choices.filter { $0.name == word || $0.id == word || $0.shortID == word.uppercased() }
        let found = numbers.firstIndex(of: word).map { choices[$0] } ?? (named.count == 1 ? named[0] : nil)
        guard let found, let id = found.id else {
            try say("Give a number from 1 to \(choices.count): ")
            return read()
        }
        choices = []
        try await client.choosePairing(device: id)
        global.note("Waiting for \(shown(found.name)) to choose this device …")
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
            }
        } catch {
            // If the pairing ended meanwhile, its last line says why.
            guard let error = error as? ControlError, error.code != .notPairing else { return }
            Failure.say(error, asJSON: global.json)
            if peer != nil || !choices.isEmpty { read() }
        }
    }

    private func type(_ code: String) async throws {
        do {
            try await client.typePairing(code: code)
        } catch {
            guard error.code == .invalidArgument else { throw error }
            Failure.say(error, asJSON: global.json)
            try askCode()
        }
    }

    // MARK: The end

    private func waitForSession(with device: String, until end: ContinuousClock.Instant) async throws {
        while ContinuousClock.now < end {
            if try await client.peers().contains(where: { $0.id == device && $0.state == .connected }) { return }
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    private func end(_ device: String, _ name: String, _ role: Role, _ joined: Bool) async throws {
        let paired = "Paired with \(self.name(name, String(device.prefix(7))))"
        try say(joined ? "\(paired); joined it as \(role.rawValue).\n" : "\(paired) as \(role.rawValue).\n")
        guard !global.quiet else { return }
        // Both dial each other now; what is not in step within two seconds, `status` tells later.
        try? await waitForSession(with: device, until: .now + .seconds(2))
        _ = try? await client.wait(connectedOnly: true, timeoutMilliseconds: 2_000)
        if let space = try? await client.status(space: "home").spaces.first {
            try say(space.shownSentence + "\n")
        }
        try say("Next: lanyard status\n")
    }
}
