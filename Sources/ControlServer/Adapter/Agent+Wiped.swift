import ControlAPI
import SyncAgent

// What `status` says on a device that deleted what it held, as it was told.
extension Agent {
    /// Returns the warning that the device was wiped, until it has joined others again.
    func wipedWarnings(_ now: AgentSnapshot) -> [StatusResponse.Warning] {
        guard let wiped, now.members.count <= 1 else { return [] }
        let name = wiped.authorName.isEmpty ? String(wiped.author.prefix(7)) : wiped.authorName
        let time = TimeText(now: Timestamp(millisecondsSinceEpoch: now.wallMilliseconds))
        return [
            .init(
                code: "wiped",
                message: "\(name) revoked this device and told it to delete what it held; "
                    + "that was done \(time.age(Timestamp(millisecondsSinceEpoch: wiped.milliseconds))).",
                hint:
                    "It is in a home of its own now. To let it in again, an admin types: lanyard invite. What is written "
                    + "here before that counts there only if an admin accepts it: lanyard devices review")
        ]
    }
}
