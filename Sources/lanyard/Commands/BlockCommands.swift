import ArgumentParser
import ControlAPI
import LanyardClient

extension Devices {
    struct Block: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Have nothing to do with a device that was stolen; on this device only.",
            discussion: """
                Its sessions end, its connections and tickets are refused, and it is not dialled. What it writes can still \
                come through devices that have not blocked it: block it on each of them. A name is chosen by its device and \
                may change: compare the id.
                """)
        @Argument(help: "Its id or how that begins, or its name.")
        var device: String
        @OptionGroup var confirmation: Confirmation
        @OptionGroup var global: GlobalOptions

        func run() async throws {
            let client = try global.client()
            let found = try DeviceWord.find(device, in: try await client.devices(space: global.space))
            try confirmation.ask("Block \(shown(found.name)) with the id \(found.id)?")
            let blocked = try await client.block(device: found.id, space: global.space)
            try global.print(blocked) { _ in global.quiet ? "" : text(blocked) }
        }

        private func text(_ blocked: BlockedDevice) -> String {
            let names = blocked.through.map { shown($0.name) }.joined(separator: ", ")
            return "\(shown(blocked.device.name)) (\(blocked.device.id.prefix(7))) is blocked on this device.\n"
                + (names.isEmpty ? "" : "What it writes can still come through \(names): block it there, too.\n")
        }
    }

    struct Unblock: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Undo block.")
        @Argument(help: "Its id or how that begins, or its name.")
        var device: String
        @OptionGroup var confirmation: Confirmation
        @OptionGroup var global: GlobalOptions

        func run() async throws {
            let client = try global.client()
            let found = try DeviceWord.find(device, in: try await client.devices(space: global.space))
            try confirmation.ask("Unblock \(shown(found.name)) with the id \(found.id)?")
            let unblocked = try await client.unblock(device: found.id, space: global.space)
            try global.print(unblocked) { _ in
                global.quiet ? "" : "\(shown(unblocked.name)) (\(unblocked.id.prefix(7))) is not blocked any more.\n"
            }
        }
    }
}
