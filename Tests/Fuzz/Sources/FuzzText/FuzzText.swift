import SyncModel

private let author = ReplicaID(device: DeviceID(subjectPublicKeyInfo: [1]), incarnation: 1)

/// Any bytes as the columns of a text, or of a part of one. What is taken has one form, opens without a trap, takes
/// further edits, and merges to the same from both sides.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzText(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    guard let contents = try? TextContents(canonicalBytes: bytes) else { return 0 }
    precondition(contents.canonicalBytes == bytes, "columns have two forms")
    let mine = Origin(dot: Dot(replica: author, counter: 1 << 61), stamp: .zero, context: VersionVector())
    let held = VersionVector([.init(replica: author, next: 1 << 61 + 2)])
    var other = ReplicatedText()
    other.apply(.insert(.after(nil, .end), "é!"), at: mine)
    var joined = other
    joined.join(contents, held: held, theirs: contents.leastVector)
    _ = (joined.string, joined.spans)
    guard let text = try? ReplicatedText(canonicalBytes: bytes) else { return 0 }
    var edited = text
    edited.apply(.insert(.after(nil, .end), "é!"), at: mine)
    precondition(edited.canonicalBytes == joined.canonicalBytes, "an edit and a merge differ")
    precondition(edited.string.unicodeScalars.count == text.count + 2, "a text does not count right")
    goOn(&edited)
    return 0
}

/// Somebody who has seen all of it types and deletes.
private func goOn(_ text: inout ReplicatedText) {
    let origin = Origin(dot: Dot(replica: author, counter: 1 << 61 + 9), stamp: .zero, context: VersionVector())
    let count = text.count
    if let operation = text.operation(inserting: "abc", at: count / 2, by: author) { text.apply(operation, at: origin) }
    if let operation = text.operation(deleting: 0..<text.count / 3, by: author) {
        text.apply(operation, at: origin.advanced(by: 3))
    }
    precondition((try? ReplicatedText(canonicalBytes: text.canonicalBytes)) == text, "a text does not read back")
}
