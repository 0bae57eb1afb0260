/// What the stories read of `attachments --json`.
struct Attachment: Decodable {
    enum State: String, Decodable {
        case present, missing, partial
    }

    let id: String
    let owner: String
    let name: String
    let mediaType: String
    let size: Int
    let width: Int?
    let height: Int?
    let hash: String
    let state: State
    /// How much of it is here: 0 to 1.
    let progress: Double?
}

/// A file on a node, and what it holds.
struct LocalFile {
    let path: String
    let size: Int
    let sha256: String
}

/// Sizes of what the stories attach.
enum Bytes {
    static let chunk = 256 << 10
    static let mebi = 1 << 20
}
