import ArgumentParser
import ControlAPI
import LanyardClient

extension Devices {
    struct SetRole: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "role",
            abstract: "Change what a device may do: reader, writer or admin. Only admins can.",
            discussion: """
                A reader passes on what it holds and writes nothing; a writer also lets in readers and writers; an admin also \
                changes roles and revokes devices. A device that was revoked is admitted again. What it wrote before counts as \
                it did.
                """)
        @OptionGroup var change: RoleChange

        func run() async throws {
            let (client, found) = try await change.find()
            let isAdmin = change.makesAdmin(of: found)
            // A person reads it before there is a second admin; of a script's command it says what to do next.
            if isAdmin, change.confirmation.canAsk { await RecoveryHint.note(client, change.global) }
            if let question = change.question(of: found) {
                try change.confirmation.ask(question + "?")
            } else if isAdmin, change.confirmation.canAsk {
                try change.confirmation.ask(change.words(of: found) + "?")
            }
            try await change.make(client, found, recoveryKey: nil)
            if isAdmin, !change.confirmation.canAsk { await RecoveryHint.note(client, change.global) }
        }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Revoke a device that is lost or was stolen, on all devices. Only admins can.",
            discussion: """
                Its sessions end wherever the word arrives, and of its work only what this device has counts. What it already \
                holds cannot be taken back from it; --wipe tells it to delete that when it next meets a device. A name is \
                chosen by its device and may change: compare the id. It can be undone: lanyard devices role DEVICE writer.
                """)
        @OptionGroup var named: NamedDevice
        @OptionGroup var wiping: Wiping

        func run() async throws {
            let (client, found) = try await named.find()
            try named.confirmation.ask("Revoke \(shown(found.name)) (\(found.id.prefix(7)))\(wiping.words)?")
            try await Revoking(client: client, global: named.global, wipes: wiping.wipe).revoke(found, recoveryKey: nil)
        }
    }
}

struct Wiping: ParsableArguments {
    @Flag(help: "Tell the device to delete what it holds of the space, when it next meets one.")
    var wipe = false

    /// The addition to a question.
    var words: String { wipe ? ", and have it delete what it holds" : "" }
}

/// A device, and the role that it is to get.
struct RoleChange: ParsableArguments {
    @Argument(help: "Its name, its id, or how that begins.", completion: Completions.devices)
    var device: String
    @Argument(help: "What it may do from now on.")
    private var role: InvitedRole
    @OptionGroup var confirmation: Confirmation
    @OptionGroup var global: GlobalOptions

    func find() async throws -> (client: LanyardClient, device: DeviceEntry) {
        let client = try global.client()
        return (client, try DeviceWord.find(device, in: try await client.devices(space: global.space)))
    }

    /// The question to a person before a revoked device comes back; nil where nothing has to be asked.
    func question(of found: DeviceEntry) -> String? {
        guard found.state == "revoked" else { return nil }
        return "\(shown(found.name)) (\(found.id.prefix(7))) was revoked. Admit it again as \(role.role.withArticle)"
    }

    /// True if the device, which is no admin, is to be one: a person is shown its id, since devices choose their names. A script
    /// that says `role DEVICE admin` is not asked.
    func makesAdmin(of found: DeviceEntry) -> Bool {
        role.role == .admin && (found.role != .admin || found.state == "revoked")
    }

    /// The deed, for the question of the recovery key.
    func words(of found: DeviceEntry) -> String {
        question(of: found) ?? "Make \(shown(found.name)) (\(found.id.prefix(7))) \(role.role.withArticle)"
    }

    func make(_ client: LanyardClient, _ found: DeviceEntry, recoveryKey: String?) async throws {
        let changed = try await client.setRole(
            role.role, of: found.id, recoveryKey: recoveryKey, space: global.space)
        let name = "\(shown(changed.name)) (\(changed.id.prefix(7)))"
        let isSame = found.state == changed.state && found.role == changed.role
        try global.print(changed) { _ in
            if global.quiet { return "" }
            if found.state == "revoked" {
                return
                    found.wipedAt == nil
                    ? "\(name) is in again, as \(changed.role.withArticle). Each other device takes it back when it hears of that.\n"
                    : "\(name) may come back, as \(changed.role.withArticle). It was wiped, so it has to be let in anew: lanyard invite\n"
            }
            return isSame
                ? "\(name) is \(changed.role.withArticle) already.\n" : "\(name) is \(changed.role.withArticle) now.\n"
        }
    }
}

/// The advice to make a recovery key before there are several admins.
enum RecoveryHint {
    static func note(_ client: LanyardClient, _ global: GlobalOptions) async {
        guard let state = try? await client.recovery(space: global.space), !state.exists else { return }
        let devices = (try? await client.devices(space: global.space)) ?? []
        let founder = devices.first { $0.id == state.founder }
        let place = founder.map { $0.state == "this" ? "" : " on \(shown($0.name))" } ?? ""
        global.note(
            "There is no recovery key yet, and an admin that is stolen can revoke all others. Make a key\(place), and keep it "
                + "on paper: lanyard recovery create")
    }
}

/// Revokes a device, and waits a moment for those who can hear of it at once.
struct Revoking {
    let client: LanyardClient
    let global: GlobalOptions
    let wipes: Bool
    /// The time that connected devices may take to say that they have heard, or were wiped.
    private static let patience: Duration = .seconds(3)

    func revoke(_ found: DeviceEntry, recoveryKey: String?) async throws {
        var answer = try await client.revoke(
            device: found.id, wipe: wipes, recoveryKey: recoveryKey, space: global.space)
        let wasConnected = found.state == "connected"
        let devices = await receipts(of: &answer, isWipeDue: wipes && wasConnected)
        try global.print(answer) { _ in
            if global.quiet { return "" }
            return Prose.wrapped(
                RevocationText(revocation: answer, devices: devices, wipes: wipes, now: .local).text)
        }
    }

    /// - Returns: the devices as they are then.
    private func receipts(of answer: inout Revocation, isWipeDue: Bool) async -> [DeviceEntry] {
        let end = ContinuousClock.now + Self.patience
        var devices: [DeviceEntry] = []
        while true {
            devices = (try? await client.devices(space: global.space)) ?? devices
            let device = devices.first { $0.id == answer.device }
            if let heard = device?.heard { (answer.heard, answer.waitingFor) = (heard, device?.waitingFor ?? []) }
            let connected = devices.filter { $0.state == "connected" }.map(\.id)
            let isAwaited = answer.waitingFor.contains(where: connected.contains) || isWipeDue && device?.wipedAt == nil
            guard ContinuousClock.now < end, isAwaited else {
                return devices
            }
            try? await Task.sleep(for: .milliseconds(100))
        }
    }
}
