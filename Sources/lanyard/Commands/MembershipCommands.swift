import ArgumentParser
import ControlAPI
import LanyardClient

/// The roles in which a device can be admitted.
enum InvitedRole: String, ExpressibleByArgument, CaseIterable {
    case reader, writer, admin

    var role: Role {
        switch self {
        case .reader: .reader
        case .writer: .writer
        case .admin: .admin
        }
    }
}

struct Invite: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Make a one-time ticket that lets another device in.")
    @Option(help: "What the device may do; at most what this one may.")
    private var role = InvitedRole.writer
    @Option(help: ArgumentHelp("How long the ticket is good for.", valueName: "time"))
    var expires = TimeLength(milliseconds: 600_000)
    @Option(help: ArgumentHelp(MembershipEnd.help, valueName: "date"))
    var until: String?
    @Flag(name: .customLong("qr"), help: "Also draw the ticket as a QR code, for a device with a camera.")
    var isDrawn = false
    @OptionGroup var global: GlobalOptions

    func validate() throws { try QRPicture.check(isDrawn, global) }

    func run() async throws {
        let request = InviteRequest(
            role: role.role, expiresSeconds: (expires.milliseconds + 999) / 1_000,
            until: try MembershipEnd.parse(until, now: .now), space: global.space)
        let client = try global.client()
        let answer = try await client.invite(request)
        let picture = isDrawn ? QRPicture(answer.ticket) : nil
        try global.print(answer) { style in
            if global.quiet { return answer.ticket + "\n" }
            let time = TimeText.local.until(answer.expires)
            let end = answer.until.map { " until \(TimeText.local.exact($0))" } ?? ""
            let use =
                "Good for one device, which becomes \((answer.role ?? .writer).withArticle)\(end), \(time). On that one, "
                + "type: lanyard join TICKET"
            var drawn = picture?.text(style) ?? ""
            if !drawn.isEmpty { drawn += "\n" }
            return "\(style.strong(answer.ticket))\n\n\(drawn)\(Prose.wrapped(use))\n"
        }
        if role == .admin { await RecoveryHint.note(client, global) }
        if let picture {
            global.note(picture.fault ?? "On one with a camera: zbarcam --raw --oneshot | lanyard join -")
        }
    }
}

struct Join: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Join with a ticket that another device printed.")
    @Argument(help: "The ticket, or - to read it from standard input.")
    var ticket: String
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let client = try global.client()
        let text = ticket == "-" ? try await StandardInput.text(limit: 16_384) : ticket
        let trimmed = String(text.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
        guard !trimmed.isEmpty else {
            throw ControlError(
                .invalidArgument, "There is no ticket.", hint: "Make one on a device that is in: lanyard invite")
        }
        if !global.quiet, !global.json { StandardError.progress("Joining …") }
        defer { StandardError.progress("") }
        let answer = try await client.join(ticket: trimmed)
        StandardError.progress("")
        try global.print(answer) { _ in
            global.quiet
                ? ""
                : "Joined space \(shown(answer.space)) through \(answer.device.prefix(7)) as \((answer.role ?? .writer).rawValue). "
                    + "See: lanyard peers\n"
        }
    }
}

struct Devices: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show the devices of the space, their roles, and which admitted which; change a role, or let one go.",
        subcommands: [
            Log.self, SetRole.self, Retire.self, Revoke.self, Block.self, Unblock.self, Review.self,
            Accept.self,
        ])
    @OptionGroup var listing: ListingOptions
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let devices = try await global.client().devices(space: global.space)
        try global.print(try listing.rows(devices)) { style in
            // Memberships that end by themselves are rare.
            let hasEnds = listing.table.columns != nil || devices.contains { $0.until != nil }
            var table = Table(
                ["NAME", "ID", "ROLE", "STATE", "ADDED BY", "ADDED", "LAST SEEN", "HEARD"] + (hasEnds ? ["UNTIL"] : []),
                leastImportant: ["HEARD", "ADDED BY", "ADDED", "ROLE", "LAST SEEN", "ID", "UNTIL"])
            for device in try listing.rows(devices) {
                let adder = device.addedBy.map { id in
                    devices.first { $0.id == id }?.name ?? String(id.prefix(7))
                }
                let end = hasEnds ? [Table.Cell(device.until.map { TimeText.local.exact($0) })] : []
                table.add(
                    [
                        Table.Cell(device.name), Table.Cell(String(device.id.prefix(7))),
                        Table.Cell(device.state == "revoked" ? nil : device.role.rawValue),
                        Table.Cell(device.wipedAt == nil ? device.state : "\(device.state), wiped"),
                        Table.Cell(adder), Table.Cell(TimeText.local.age(device.addedAt)),
                        Table.Cell(TimeText.local.age(device.lastSeen)), Table.Cell(Self.heard(device)),
                    ] + end)
            }
            return try table.text(style, listing.table)
        }
    }

    /// Like `2 of 3`: how many members know that it was retired or revoked.
    private static func heard(_ device: DeviceEntry) -> String? {
        device.heard.map { "\($0.count) of \($0.count + (device.waitingFor ?? []).count)" }
    }

    struct Retire: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Retire a device that does not come back, so that no other device waits for it.",
            discussion: """
                What it wrote on objects and this device does not hold counts no more, even where another device holds it; \
                what others hold of it is listed by lanyard devices review, and an admin can take it. Should the device come \
                back all the same, it is admitted again by itself, and writes that work once more.
                """)
        @OptionGroup var named: NamedDevice

        func run() async throws {
            let (client, found) = try await named.find()
            let name = "\(shown(found.name)) (\(found.id.prefix(7)))"
            try named.confirmation.ask(
                found.state == "connected"
                    ? "\(name) is online and will rejoin by itself. Stop its agent, or continue?" : "Retire \(name)?")
            let retired = try await client.retire(device: found.id, space: named.global.space)
            try named.global.print(retired) { _ in
                named.global.quiet
                    ? ""
                    : "\(shown(retired.name)) was retired. Old deletions are cleaned up once all other devices know.\n"
                        + "Work of it that counts no more, as far as devices hold it: lanyard devices review "
                        + "\(retired.id.prefix(7))\n"
            }
        }
    }
}
