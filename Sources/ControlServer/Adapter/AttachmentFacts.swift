package import ControlAPI

/// The facts about the bytes of one attachment, in names and sizes that people know, and the conclusion from them.
package struct AttachmentFacts: Sendable {
    /// The attachment's id, as people type it.
    package var id: String
    /// The size in bytes, as its record states.
    package var size: UInt64
    /// All of it is on this machine.
    package var isHere = false
    /// The number of bytes that are on this machine.
    package var presentBytes: UInt64 = 0
    /// True while it is being fetched.
    package var isArriving = false
    /// Nil: policy, pin or a person wants it here; otherwise what the policy wants, as people set it.
    package var policy: String?
    /// The error of this machine's disk or quota at the last attempt.
    package var refusal: ControlError?
    /// Connected devices that say that they hold it, or some of it that is not here.
    package var holders: [String] = []
    /// Connected devices that hold some of it, and nothing that is not here.
    package var spentHolders: [String] = []
    /// Connected devices that sent something else in its place, and are not asked for a while.
    package var liars: [String] = []
    package var connectedCount = 0
    /// The device that said last that it had all of it, and when; nil: none ever did.
    package var last: (device: String, when: String)?
    /// The name of the device that attached it.
    package var author: String

    package init(id: String, size: UInt64, author: String) {
        (self.id, self.size, self.author) = (id, size, author)
    }

    /// The cause of its absence, and what to do; nil if it is here.
    package var fault: (detail: String, hint: String)? {
        if isHere { return nil }
        if let refusal {
            return ("this device did not take \(id) (\(refusal.code.rawValue)): \(refusal.message)", refusal.hint)
        }
        if isArriving {
            let from = holders.isEmpty ? "" : ", from \(Self.list(holders))"
            return ("\(id) is being fetched: \(percent) % is here\(from)", "Watch it: lanyard fetch \(id)")
        }
        if let policy {
            return (
                "\(id) is not fetched unasked: it has \(ByteAmount.text(size)), and this device fetches \(policy)",
                "Bring it here: lanyard fetch \(id). Keep it here: lanyard pin \(id)"
            )
        }
        if !holders.isEmpty {
            return (
                "\(id) waits for its turn: \(Self.list(holders)) \(holders.count == 1 ? "has" : "have") it, and "
                    + "\(percent) % is here", "Bring it here before all others: lanyard fetch \(id)"
            )
        }
        if !liars.isEmpty {
            return (
                "\(Self.list(liars)) sent bytes that are not of \(id), and no other connected device has it",
                "Check the disk there: lanyard doctor --deep. It is asked again by itself, or at once with another session."
            )
        }
        let nobody = ControlError.nobodyHas(last: last, author: author)
        if spentHolders.isEmpty { return (nobody.message, nobody.hint) }
        let more = "\(Self.list(spentHolders)) \(spentHolders.count == 1 ? "has" : "have") no more of it"
        return ("\(percent) % of \(id) is here, and \(more). For the rest: \(nobody.message)", nobody.hint)
    }

    /// True if no connected device can send it.
    package var isAlone: Bool { !isHere && !isArriving && holders.isEmpty && liars.isEmpty && refusal == nil }

    private var percent: UInt64 { size == 0 ? 0 : min(99, min(presentBytes, size) * 100 / size) }

    private static func list(_ names: [String]) -> String {
        guard names.count > 1, let last = names.last else { return names.first ?? "" }
        return names.dropLast().joined(separator: ", ") + " and " + last
    }
}
