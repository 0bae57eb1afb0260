/// The sentences that attachments are refused with, so that they read the same wherever they are said.
extension ControlError {
    /// The error for an id prefix that no attachment has.
    package static let unknownAttachment = ControlError(
        .unknownAttachment, "There is no such attachment.", hint: "See what there is: lanyard attachments")

    /// Several attachments have an id that begins so.
    package static let ambiguousAttachment = ControlError(
        .ambiguousAttachment, "Several attachments begin with that.",
        hint: "Give more of the id; whole ones: lanyard attachments --json")

    /// The error when no connected device has the bytes.
    ///
    /// - Parameters:
    ///   - last: the device that reported most recently that it had all of them, and the time as people read it; nil: none ever
    ///     did.
    ///   - author: the device that attached it, and so had the bytes once.
    package static func nobodyHas(last: (device: String, when: String)?, author: String) -> ControlError {
        let known =
            last.map { "\($0.device) had them last (\($0.when))" }
            ?? "they were attached on \(author), which has not said since that it has them"
        return ControlError(
            .nobodyHas, "No connected device has its bytes; \(known).",
            hint: "Start or connect that device, and fetch again: lanyard peers")
    }

    /// - Parameters:
    ///   - used: the bytes that count against the quota now.
    ///   - needed: the bytes that it would need besides.
    package static func quotaExceeded(space: String, quota: UInt64, used: UInt64, needed: UInt64) -> ControlError {
        ControlError(
            .quotaExceeded,
            "It does not fit the quota of space \(space): \(ByteAmount.text(needed)) are needed, and \(ByteAmount.text(used)) of \(ByteAmount.text(quota)) are used.",
            hint:
                "Make room (lanyard detach ATTACHMENT, then lanyard compact), or allow more: lanyard spaces set \(space) --quota SIZE"
        )
    }

    /// The error for an attachment above the size limit.
    package static let attachmentTooLarge = ControlError(
        .tooLarge, "An attachment has at most \(ByteAmount.text(ControlLimits.attachmentBytes)).",
        hint: "Split the file, and attach the parts.")

    /// The error when the file changed while it was read: the bytes are neither the old ones nor the new ones.
    package static let fileChanged = ControlError(
        .fileChanged, "The file changed while it was read; nothing was attached.",
        hint: "Attach it again when no program writes to it, or attach a copy.")

    /// The error when the bytes on disk do not match the hash, or are not readable.
    package static let attachmentDamaged = ControlError(
        .damaged, "Some of its bytes on this device's disk are damaged, and were not handed over.",
        hint: "Fetch it again from another device: lanyard fetch ATTACHMENT. Check the others: lanyard doctor --deep")

    /// The bytes are not all here.
    package static let attachmentMissing = ControlError(
        .notFound, "Its bytes are not on this device.", hint: "Bring them here: lanyard fetch ATTACHMENT")

    /// A request that names bytes, and brings others.
    package static let bytesAreHere = ControlError(
        .invalidArgument, "With \"from\" the request has no body: the bytes are taken from this device.",
        hint: "Leave out the body, or \"from\".")

    /// The error for a media type that is not of the form type, slash, subtype.
    package static let badMediaType = ControlError(
        .invalidArgument, "This is no media type.", hint: "Write type/subtype, for example image/png.")

    /// Throws `invalid_name` for a name of an attachment that is too long.
    package static func checkAttachmentName(_ name: String) throws(ControlError) {
        guard !ControlLimits.attachmentNameBytes.contains(name.utf8.count) else { return }
        throw ControlError(
            .invalidName,
            "The name of the attachment is longer than \(ControlLimits.attachmentNameBytes.upperBound) bytes.",
            hint: "Give a shorter one with --name.")
    }
}
