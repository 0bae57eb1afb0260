import ArgumentParser
import ControlAPI
import LanyardClient

/// A device of the space, named on the command line, and the option to act without asking.
struct NamedDevice: ParsableArguments {
    @Argument(help: "Its name, its id, or how that begins.", completion: Completions.devices)
    var device: String
    @OptionGroup var confirmation: Confirmation
    @OptionGroup var global: GlobalOptions

    /// Returns the client and the device that is named. Throws what `DeviceWord.find` and the request throw.
    func find() async throws -> (client: LanyardClient, device: DeviceEntry) {
        let client = try global.client()
        return (client, try DeviceWord.find(device, in: try await client.devices(space: global.space)))
    }
}

extension Devices {
    struct Block: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Have nothing to do with a device that was stolen; on this device only.",
            discussion: """
                Its sessions end, its connections and tickets are refused, and it is not dialled. What it writes can still \
                come through devices that have not blocked it: block it on each of them. A name is chosen by its device and \
                may change: compare the id.
                """)
        @OptionGroup var named: NamedDevice

        func run() async throws {
            let (client, found) = try await named.find()
            try named.confirmation.ask("Block \(shown(found.name)) with the id \(found.id)?")
            let blocked = try await client.block(device: found.id, space: named.global.space)
            try named.global.print(blocked) { _ in named.global.quiet ? "" : text(blocked) }
        }

        private func text(_ blocked: BlockedDevice) -> String {
            let names = blocked.through.map { shown($0.name) }.joined(separator: ", ")
            return "\(shown(blocked.device.name)) (\(blocked.device.id.prefix(7))) is blocked on this device.\n"
                + (names.isEmpty ? "" : "What it writes can still come through \(names): block it there, too.\n")
        }
    }

    struct Unblock: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Undo block.")
        @OptionGroup var named: NamedDevice

        func run() async throws {
            let (client, found) = try await named.find()
            try named.confirmation.ask("Unblock \(shown(found.name)) with the id \(found.id)?")
            let unblocked = try await client.unblock(device: found.id, space: named.global.space)
            let name = "\(shown(unblocked.name)) (\(unblocked.id.prefix(7)))"
            try named.global.print(unblocked) { _ in
                named.global.quiet ? "" : "\(name) is not blocked any more.\n"
            }
        }
    }
}
