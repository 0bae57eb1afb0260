/// The reason why a device's keys cannot be used. Lanyard never answers it by making a new identity.
package enum IdentityError: Error, Sendable, Equatable {
    /// Others may read the file or directory. Modes in octal.
    case tooOpen(path: String, mode: UInt32, wanted: UInt32)
    case foreignOwner(path: String, owner: UInt32)
    /// A symbolic link, device or directory stands where the file should be.
    case notRegular(path: String)
    /// A part of the file is missing, unreadable or does not belong to the rest.
    case damaged(path: String, part: String)
    case failed(path: String, operation: String, errno: Int32)

    package var code: String {
        switch self {
        case .tooOpen: "key_file_mode"
        case .foreignOwner: "key_file_owner"
        case .notRegular: "key_file_kind"
        case .damaged: "key_file_damaged"
        case .failed: "key_file_failed"
        }
    }

    package var message: String {
        switch self {
        case .tooOpen(let path, let mode, _):
            "Others may use the device's keys: \(path) has mode \(Self.octal(mode))."
        case .foreignOwner(let path, let owner): "\(path) belongs to user \(owner), not to the agent's."
        case .notRegular(let path): "\(path) is not what it should be: a plain file in a plain directory."
        case .damaged(let path, let part): "The device's keys in \(path) are damaged: \(part)."
        case .failed(let path, let operation, let errno):
            "\(operation) of \(path) failed: \(IdentityFile.text(errno: errno))."
        }
    }

    package var hint: String {
        switch self {
        case .tooOpen(let path, _, let wanted): "chmod \(Self.octal(wanted)) \(path)"
        case .foreignOwner(let path, _): "Start the agent as that user, or: chown \"$(id -u)\" \(path)"
        case .notRegular(let path): "Move \(path) away and restore the file from a backup."
        case .damaged(let path, _):
            "Restore \(path) from a backup. To become a new device, which must be paired again, move it away."
        case .failed: "Make the directory readable and writable for the agent, and see that the disk has room."
        }
    }

    private static func octal(_ mode: UInt32) -> String { "0" + String(mode, radix: 8) }
}
