public import ArgumentParser
public import ControlAPI
import LanyardClient

extension Role: ExpressibleByArgument {}

struct Invite: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Make a one-time ticket that lets another device in.")
    @Option(help: "What the device may do: writer or reader.")
    var role = Role.writer
    @Option(help: ArgumentHelp("How long the ticket is good for.", valueName: "time"))
    var expires = TimeLength(milliseconds: 600_000)
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let request = InviteRequest(
            role: role, expiresSeconds: (expires.milliseconds + 999) / 1_000, space: global.space)
        let answer = try await global.client().invite(request)
        try global.print(answer) { style in
            if global.quiet { return answer.ticket + "\n" }
            return """
                \(style.strong(answer.ticket))

                Good for one device until \(answer.expires). On the other machine, type:
                  lanyard join \(answer.ticket)

                """
        }
    }
}

struct Join: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Join with a ticket that another machine printed.")
    @Argument(help: "The ticket, or - to read it from standard input.")
    var ticket: String
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let client = try global.client()
        let text = ticket == "-" ? try await StandardInput.text(limit: 16_384) : ticket
        let trimmed = String(text.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
        guard !trimmed.isEmpty else {
            throw ControlError(
                .invalidArgument, "There is no ticket.", hint: "Make one on a machine that is in: lanyard invite")
        }
        if !global.quiet, !global.json { StandardError.progress("Joining …") }
        defer { StandardError.progress("") }
        let answer = try await client.join(ticket: trimmed)
        StandardError.progress("")
        try global.print(answer) { _ in
            global.quiet
                ? ""
                : "Joined space \(shown(answer.space)) through \(answer.device.prefix(7)). See: lanyard peers\n"
        }
    }
}

struct Devices: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Show the members: who let whom in, and when.")
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let devices = try await global.client().devices(space: global.space)
        try global.print(devices) { style in
            var table = Table("NAME", "ID", "ROLE", "STATE", "ADDED BY", "ADDED", "LAST SEEN")
            for device in devices {
                let adder = device.addedBy.map { id in
                    devices.first { $0.id == id }?.name ?? String(id.prefix(7))
                }
                table.add(
                    Table.Cell(device.name), Table.Cell(String(device.id.prefix(7))), Table.Cell(device.role.rawValue),
                    Table.Cell(device.state), Table.Cell(adder), Table.Cell(device.addedAt),
                    Table.Cell(Amounts.ago(device.lastSeen)))
            }
            return table.text(style)
        }
    }
}
