import SyncModel
import SyncStore

// Files attached and detached: few, so that one file is attached to many objects.
extension ObjectWork {
    mutating func attachment(_ object: StoredObject) -> ObjectWrite {
        let there = object.state.shownAttachments
        guard !there.isEmpty, chance(45) else { return .attach(object.key, file()) }
        let id = there[number(0..<there.count)].id
        // Rarely an attachment that was never attached.
        return .detach(object.key, attachment: chance(95) ? id : Dot(replica: id.replica, counter: id.counter + 1_000))
    }

    private mutating func file() -> AttachedFile {
        guard !contents.isEmpty else { return file(number(0..<4)) }
        let number = number(0..<contents.count)
        let name = contents[number].name
        return AttachedFile(
            name: ExactString("file \(number).bin"), mediaType: .unknown, image: nil,
            blob: BlobName(name.hash, size: size(name.size)))
    }

    /// Now and then a wrong one: near the true one, of another blob, or of the other kind.
    private mutating func size(_ size: UInt64) -> UInt64 {
        guard wrongSizePercent > 0, chance(wrongSizePercent) else { return size }
        let sizes = [size + 1, size / 2, 0, 1, 64 << 10, 300 << 10, 1 << 20, BlobLayout.sizeLimit]
        return sizes[number(0..<sizes.count)]
    }

    /// Returns a file that has its name as its bytes.
    private func file(_ number: Int) -> AttachedFile {
        let name = "file \(number).txt"
        var hasher = BlobHasher()
        Array(name.utf8).withUnsafeBytes { hasher.update($0) }
        return AttachedFile(
            name: ExactString(name), mediaType: .unknown, image: nil, blob: hasher.finish())
    }
}
