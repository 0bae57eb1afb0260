import ArgumentParser
import ControlAPI
import LanyardClient

struct DeviceIdentifier: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "id",
        abstract: "Print the full id of this device, for scripts and to compare it with what another screen shows.",
        discussion: "The id lets no device in. A ticket does (lanyard invite), or codes on both screens (lanyard pair)."
    )
    @Flag(name: .customLong("qr"), help: "Also draw the id as a QR code, for a device with a camera.")
    var isDrawn = false
    @OptionGroup var global: GlobalOptions

    func validate() throws { try QRPicture.check(isDrawn, global) }

    func run() async throws {
        let device = try await global.client().status().device
        let picture = isDrawn ? QRPicture(device.id) : nil
        try global.print(device) { style in device.id + "\n" + (picture.map { "\n" + $0.text(style) } ?? "") }
        if let fault = picture?.fault { global.note(fault) }
    }
}
