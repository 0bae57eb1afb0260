import ArgumentParser
import ControlAPI
import LanyardClient

struct Recovery: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show whether the space has a recovery key; make it, or use it.",
        discussion: """
            The recovery key outranks every device, also one that was stolen and revoked all others. It is made once, on the \
            device that founded the space, and belongs on paper.
            """,
        subcommands: [Create.self, Use.self])
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let client = try global.client()
        let state = try await client.recovery(space: global.space)
        let founder = await DeviceNames(client, space: global.space)
        try global.print(state) { _ in
            guard state.exists else {
                let name = state.founder.map { " on \(founder[$0])" } ?? ""
                return Prose.wrapped("There is no recovery key. To make it\(name):  lanyard recovery create\n")
            }
            let since = state.createdAt.map { " " + TimeText.local.since($0) } ?? ""
            return Prose.wrapped(
                "There is a recovery key\(since). To use it, on any device:  lanyard recovery use --help\n")
        }
    }

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make the recovery key of the space, once, and show it, once. Only the founder's device can.",
            discussion: """
                The agent keeps the public half only: a key that is lost is lost for good, and no other can be made. Write it \
                down, and keep it where no device is. Anyone who has it can revoke every device.
                """)
        @OptionGroup var global: GlobalOptions

        func run() async throws {
            let client = try global.client()
            let key = try await client.newRecoveryKey(space: global.space).key
            // Shown before it counts: so no key counts that no person has seen.
            try global.print(IssuedRecoveryKey(key: key)) { style in
                if global.quiet { return key + "\n" }
                return "\(style.strong(shown(key)))\n\n"
                    + Prose.wrapped(
                        "Write it down now, on paper, and keep it where no device is: it is not shown again. Anyone who has it "
                            + "can revoke every device. To use it, on any device:  lanyard recovery use revoke DEVICE\n"
                    )
            }
            do { _ = try await client.setRecoveryKey(key, space: global.space) } catch {
                throw ControlError(
                    error.code, "The key above was not set and is worth nothing: \(error.message)", hint: error.hint)
            }
        }
    }

    struct Use: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Revoke a device, or change a role, by the recovery key. Works on every device, also a revoked one.",
            discussion: """
                The key is asked for and not shown. Without a terminal, or with -, it is read from standard input: never give \
                it as a word of the command, where others can see it.
                """,
            subcommands: [Revoke.self, SetRole.self])

        struct Revoke: AsyncParsableCommand {
            static let configuration = CommandConfiguration(abstract: "Revoke a device by the recovery key.")
            @OptionGroup var named: NamedDevice
            @OptionGroup var wiping: Wiping
            @OptionGroup var source: KeySource

            func run() async throws {
                let (client, found) = try await named.find()
                try named.confirmation.ask(
                    "Revoke \(found.name) (\(found.id.prefix(7))) by the recovery key\(wiping.words)?")
                let revoking = Revoking(client: client, global: named.global, wipes: wiping.wipe)
                try await source.withKey(asJSON: named.global.json) { key in
                    try await revoking.revoke(found, recoveryKey: key)
                }
            }
        }

        struct SetRole: AsyncParsableCommand {
            static let configuration = CommandConfiguration(
                commandName: "role",
                abstract: "Change what a device may do by the recovery key; one that was revoked is admitted again.")
            @OptionGroup var change: RoleChange
            @OptionGroup var source: KeySource

            func run() async throws {
                let (client, found) = try await change.find()
                try change.confirmation.ask("\(change.words(of: found)) by the recovery key?")
                try await source.withKey(asJSON: change.global.json) { key in
                    try await change.make(client, found, recoveryKey: key)
                }
            }
        }
    }
}

/// The place from which the recovery key is read.
struct KeySource: ParsableArguments {
    @Argument(help: "- to read the key from standard input; else it is asked for at the terminal.")
    private var source: String?
    private static let attempts = 3

    func validate() throws {
        guard source == nil || source == "-" else {
            throw ValidationError("The key is not given on the command line: it is asked for, or read with -.")
        }
    }

    /// Calls `body` with the key; at a terminal again where it was mistyped.
    func withKey(asJSON: Bool, _ body: (String) async throws -> Void) async throws {
        guard source == nil, StandardInput.isTerminal else {
            return try await body(try await StandardInput.text(limit: 1_024))
        }
        for attempt in 1...Self.attempts {
            let key = try SecretInput.line("Recovery key (not shown): ", asJSON: asJSON)
            do { return try await body(key) } catch let error as ControlError {
                guard error.code == .invalidArgument, attempt < Self.attempts else { throw error }
                Failure.say(error, asJSON: asJSON)
            }
        }
    }
}
