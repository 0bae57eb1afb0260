import NIOCore
import SyncCore
import SyncModel
import SyncStore
import Synchronization

// What is read: what is missing here, and what peers ask for, of what a record of the space names.
extension BlobDriver {
    func listMissing(_ id: ListID, in space: SpaceID, except: [BlobHash], limit: Int) {
        serving.start { [self] in
            do throws(StoreError) {
                let missing = try store.store.missingBlobs(of: space, except: Set(except), limit: limit)
                inlet.tell(.missing(id, missing.compactMap(BlobWant.init)))
            } catch {
                note(.store(error))
                inlet.tell(.missing(id, []))
                // The core takes that for all there is.
                inlet.tell(.missingChanged, after: .seconds(10))
            }
        }
    }

    func lookUp(_ id: ReadID, _ space: SpaceID, _ hashes: [BlobHash]) {
        serving.start { [self] in
            var holdings: [BulkFrame.Holding] = []
            do throws(BlobError) {
                for blob in try allowed(hashes, space) {
                    if let part = try part(of: blob) { holdings.append(.init(blob: blob, part: part)) }
                }
            } catch {
                note(error)
            }
            inlet.tell(.lookedUp(id, holdings))
        }
    }

    /// Nil: nothing of it can be served. What came of a blob that nobody works on is not looked at for a peer's sake: it
    /// would have to be read and hashed.
    private func part(of blob: BlobHash) throws(BlobError) -> BulkFrame.Holding.Part? {
        if let partial = working.withLock({ $0[blob] }) {
            let present = try partial.present()
            return present.presentCount > 0 ? .chunks(present) : nil
        }
        return try blobs.status(of: blob) == .whole ? .all : nil
    }

    func readHashes(_ id: ReadID, _ space: SpaceID, _ blob: BlobHash, first: Int) {
        serving.start { [self] in
            do throws(BlobError) {
                guard try !allowed([blob], space).isEmpty, let found = try blobs.chunks(of: blob) else {
                    return inlet.tell(.hashesRead(id, nil))
                }
                inlet.tell(.hashesRead(id, found.chunks.page(from: first)))
            } catch {
                note(error)
                inlet.tell(.hashesRead(id, nil))
            }
        }
    }

    func readChunk(_ id: ReadID, _ space: SpaceID, _ blob: BlobHash, chunk: Int) {
        serving.start { [self] in
            do throws(BlobError) {
                guard try !allowed([blob], space).isEmpty else { return inlet.tell(.chunkRead(id, nil, .notAllowed)) }
                inlet.tell(.chunkRead(id, try read(blob, chunk), nil))
            } catch .notHere {
                inlet.tell(.chunkRead(id, nil, .notHeld))
            } catch {
                note(error)
                inlet.tell(.chunkRead(id, nil, .unreadable))
                noteDamage(error)
            }
        }
    }

    private func read(_ blob: BlobHash, _ chunk: Int) throws(BlobError) -> [UInt8] {
        if let partial = working.withLock({ $0[blob] }) { return try partial.read(chunk) }
        if var reader = readers.withLock({ $0.take(blob) }), let bytes = try? reader.read(chunk) {
            readers.withLock { $0.keep(reader) }
            return bytes
        }
        // Not open, or it was removed and is here again: from the beginning.
        var reader = try blobs.open(blob)
        let bytes = try reader.read(chunk)
        readers.withLock { [reader] in $0.keep(reader) }
        return bytes
    }

    func readSmall(_ id: ReadID, _ space: SpaceID, _ hashes: [BlobHash]) {
        serving.start { [self] in
            var read: [BulkFrame.SmallBlobs.Blob] = []
            var next = 0
            do throws(BlobError) {
                let allowed = Set(try allowed(hashes, space))
                var byteCount = 0
                while next < hashes.count {
                    if allowed.contains(hashes[next]), let bytes = try small(hashes[next]) {
                        guard read.isEmpty || byteCount + bytes.count <= BulkLimits.smallFrameBytes else { break }
                        byteCount += bytes.count
                        read.append(.init(index: UInt32(next), bytes: bytes))
                    }
                    next += 1
                }
            } catch {
                // What is left counts as looked at, and not held: the peer hears of it when it is.
                note(error)
                next = hashes.count
            }
            inlet.tell(.smallRead(id, read, next: next))
        }
    }

    /// Nil: not here, or not small, or damaged just now.
    private func small(_ blob: BlobHash) throws(BlobError) -> [UInt8]? {
        do throws(BlobError) {
            var reader = try blobs.open(blob)
            guard reader.layout.size <= UInt64(BulkLimits.smallBytes) else { return nil }
            return reader.layout.chunkCount == 0 ? [] : try reader.read(0)
        } catch .notHere {
            return nil
        } catch .damaged(let hash) {
            note(.damaged(hash))
            noteDamage(.damaged(hash))
            return nil
        } catch {
            throw error
        }
    }

    private func allowed(_ hashes: [BlobHash], _ space: SpaceID) throws(BlobError) -> [BlobHash] {
        do throws(StoreError) { return try store.store.allowed(hashes, space: space) } catch { throw .store(error) }
    }
}

extension BlobWant {
    /// Nil beyond what a blob may have, which no record says that could be read.
    init?(_ missing: MissingBlob) {
        guard let layout = BlobLayout(size: missing.size) else { return nil }
        self.init(blob: missing.blob, layout: layout, stamp: missing.stamp)
    }
}

extension ChunkList {
    /// As many hashes as a frame takes; nil behind the last.
    fileprivate func page(from first: Int) -> [UInt8]? {
        guard first >= 0, first < count else { return nil }
        let end = min(first + BulkLimits.hashesPerFrame, count)
        return Array(bytes[first * BlobHash.byteCount..<end * BlobHash.byteCount])
    }
}
