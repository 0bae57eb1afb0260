package import ControlAPI

/// A revocation for people: the devices that have heard, and those that the device let in.
package struct RevocationText {
    let revocation: Revocation
    /// All devices of the space, for names.
    let devices: [DeviceEntry]
    let wipes: Bool
    let now: TimeText

    package init(revocation: Revocation, devices: [DeviceEntry], wipes: Bool, now: TimeText) {
        self.revocation = revocation
        self.devices = devices
        self.wipes = wipes
        self.now = now
    }

    private var name: String { "\(shown(revocation.name)) (\(revocation.device.prefix(7)))" }

    package var text: String {
        var lines = [
            "\(name) is revoked: no device has to do with it, and of its work only what this device has counts."
        ]
        lines.append(receipts)
        lines.append(wipes ? wiping : "What it already holds cannot be taken back from it.")
        if !revocation.alsoAdmitted.isEmpty {
            lines += ["", "It let in these devices, which stay. If you do not know one, revoke it, too:"]
            lines += revocation.alsoAdmitted.map { device in
                "  \(shown(device.name)) (\(device.id.prefix(7))):  lanyard devices revoke \(device.id.prefix(7))"
            }
        }
        lines += ["", "What it wrote that counts no more:  lanyard devices review \(revocation.device.prefix(7))"]
        return lines.joined(separator: "\n") + "\n"
    }

    private var wiping: String {
        let copies = "What was copied from it cannot be taken back."
        if let time = devices.first(where: { $0.id == revocation.device })?.wipedAt {
            return "It deleted what it held, and has signed that (\(now.exact(time))). \(copies)"
        }
        return "It is told to delete what it holds when it meets a device that knows, and has everything until then. "
            + "`lanyard devices` says wiped once it was. \(copies)"
    }

    /// Like "2 of 3 devices have heard of it. Not yet: phone, last seen 3 d 0 h ago."
    package var receipts: String {
        let total = revocation.heard.count + revocation.waitingFor.count
        if revocation.waitingFor.isEmpty {
            return total == 1 ? "No other device has to hear of it." : "All \(total) devices have heard of it."
        }
        let waiting = revocation.waitingFor.map { id in
            let device = devices.first { $0.id == id }
            let name = device.map { shown($0.name) } ?? String(id.prefix(7))
            if device?.state == "connected" { return "\(name), connected" }
            return device?.lastSeen.map { "\(name), last seen \(now.age($0))" } ?? "\(name), never met"
        }
        return
            "\(revocation.heard.count) of \(total) devices \(revocation.heard.count == 1 ? "has" : "have") heard of it. "
            + "Not yet: \(waiting.joined(separator: "; "))."
    }
}
