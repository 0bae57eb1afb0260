/// A member that holds up all others and has had no session for long: a person should say whether it comes back.
///
/// It is never retired automatically: a laptop in a drawer for a year may have work that no other device has.
package enum SilentMember {
    /// The days without a session after which `status` asks about it.
    package static let days: Int64 = 30
    private static let dayMilliseconds: Int64 = 86_400_000

    /// - Parameters:
    ///   - members: those that have not acknowledged what this node has.
    ///   - now: this node's clock, milliseconds since 1970.
    package static func warnings(
        _ members: [StatusResponse.Space.Stable.Member], now: Int64
    ) -> [StatusResponse.Warning] {
        members.compactMap { member in
            // One that was never met is silent since there is something to tell it.
            let heard = (member.lastSeen ?? member.since).millisecondsSinceEpoch
            let silence = now.subtractingReportingOverflow(heard)
            guard !silence.overflow, silence.partialValue >= days * dayMilliseconds else { return nil }
            let name = member.name.isEmpty ? member.shortID : member.name
            return StatusResponse.Warning(
                code: "member_silent",
                message: "\(name) has been silent for \(silence.partialValue / dayMilliseconds) days. "
                    + "What is deleted and edited meanwhile is kept for it.",
                hint:
                    "If it does not come back, retire it: lanyard devices retire \(DeviceWord.typed(name, shortID: member.shortID))"
            )
        }
    }
}
