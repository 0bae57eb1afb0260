/// A message of a pairing by typed codes, behind the offers.
package enum PairingMessage: Hashable, Sendable {
    /// The committer chose the receiver: `PairingTranscript.commitment`, 32 bytes.
    case commitment([UInt8])
    /// The answerer chose the committer, too: its nonce, 32 bytes.
    case answer([UInt8])
    /// The committer's nonce, 32 bytes. Both screens show their codes from here on.
    case opening([UInt8])
    /// The code of the receiver's screen was typed at the sender.
    case confirmed
    /// The receiver is durably a member at the sender.
    case admitted
    /// The sender ends the exchange; the last message.
    case ended(PairingEnd)
}

/// The reason why a device ends an exchange. The raw values travel.
package enum PairingEnd: String, Hashable, Sendable, CaseIterable {
    /// The code that was typed is not that of the receiver's screen.
    case wrongCode = "wrong_code"
    /// The person at the device stopped.
    case cancelled
    /// The time of the pairing is over at the device.
    case timedOut = "timed_out"
    /// The person at the device chose another one.
    case choseAnother = "chose_another"
    /// The device could not write the member down.
    case notAdmitted = "not_admitted"
    /// A reason of a later version.
    case other
}
