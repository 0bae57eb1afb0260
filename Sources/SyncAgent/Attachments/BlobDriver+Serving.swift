import NIOCore
package import SyncCore
import SyncModel
package import SyncStore
import Synchronization

// What is read: what is missing here, and what peers ask for, of what a record of the space names.
extension BlobDriver {
    func listMissing(_ id: ListID, in space: SpaceID, except: [BlobHash], limit: Int) {
        serving.start { [self] in
            do throws(StoreError) {
                let missing = try store.store.missingBlobs(of: space, except: Set(except), limit: limit)
                inlet.tell(.missing(id, missing.compactMap(BlobWant.init)))
            } catch {
                record(.store(error))
                inlet.tell(.missing(id, []))
                // The core takes that for all there is.
                inlet.tell(.missingChanged, after: .seconds(10))
            }
        }
    }

    func lookUp(_ id: ReadID, _ space: SpaceID, _ hashes: [BlobHash]) {
        serving.start { [self] in
            do throws(BlobError) {
                let allowed = try allowed(hashes, space)
                let held = zip(allowed, try blobs.holdings(of: allowed))
                inlet.tell(.lookedUp(id, held.compactMap { BulkFrame.Holding(of: $0, $1) }))
            } catch {
                record(error)
                inlet.tell(.lookedUp(id, []))
            }
        }
    }

    func readHashes(_ id: ReadID, _ space: SpaceID, _ blob: BlobHash, first: Int) {
        serving.start { [self] in
            do throws(BlobError) {
                guard try !allowed([blob], space).isEmpty, let found = try blobs.chunks(of: blob) else {
                    return inlet.tell(.hashesRead(id, nil))
                }
                inlet.tell(.hashesRead(id, found.chunks.page(from: first)))
            } catch {
                record(error)
                inlet.tell(.hashesRead(id, nil))
            }
        }
    }

    func readChunk(_ id: ReadID, _ space: SpaceID, _ blob: BlobHash, chunk: Int) {
        serving.start { [self] in
            do throws(BlobError) {
                guard try !allowed([blob], space).isEmpty else { return inlet.tell(.chunkRead(id, nil, .notAllowed)) }
                inlet.tell(.chunkRead(id, try blobs.readChunk(chunk, of: blob), nil))
            } catch .notHere {
                inlet.tell(.chunkRead(id, nil, .notHeld))
            } catch {
                record(error)
                inlet.tell(.chunkRead(id, nil, .unreadable))
                recordDamage(error)
            }
        }
    }

    func readSmall(_ id: ReadID, _ space: SpaceID, _ hashes: [BlobHash]) {
        serving.start { [self] in
            do throws(BlobError) {
                let allowed = Set(try allowed(hashes, space))
                let places = hashes.indices.filter { allowed.contains(hashes[$0]) }
                let small = try blobs.readSmall(places.map { hashes[$0] }, byteBudget: BulkLimits.smallFrameBytes)
                let read = small.blobs.map { blob in
                    BulkFrame.SmallBlobs.Blob(index: UInt32(places[blob.index]), bytes: blob.bytes)
                }
                let next = small.nextIndex < places.count ? places[small.nextIndex] : hashes.count
                inlet.tell(.smallRead(id, read, next: next))
                // Nothing changed with what was never here.
                guard !small.unreadable.isEmpty else { return }
                inlet.tell(small.unreadable.map { .holdingChanged($0) } + [.missingChanged])
            } catch {
                // All count as looked at, and not held: the peer hears of them when they are.
                record(error)
                inlet.tell(.smallRead(id, [], next: hashes.count))
            }
        }
    }

    private func allowed(_ hashes: [BlobHash], _ space: SpaceID) throws(BlobError) -> [BlobHash] {
        do throws(StoreError) { return try store.store.allowed(hashes, space: space) } catch { throw .store(error) }
    }
}

extension BlobWant {
    /// Nil for a size that no blob may have; no readable record has such a size.
    package init?(_ missing: MissingBlob) {
        guard let layout = BlobLayout(size: missing.size) else { return nil }
        self.init(
            blob: missing.blob, layout: layout, stamp: missing.stamp, sizeLimit: missing.sizeLimit,
            isBegun: missing.isBegun)
    }
}

extension BulkFrame.Holding {
    /// Nil: nothing of it can be served.
    fileprivate init?(of blob: BlobHash, _ held: BlobHolding) {
        switch held {
        case .nothing: return nil
        case .chunks(let chunks, let layout):
            guard chunks.presentCount > 0 else { return nil }
            self.init(blob: blob, part: .chunks(chunks, layout))
        case .all(let layout): self.init(blob: blob, part: .all(layout))
        }
    }
}

extension ChunkList {
    /// Returns a page of hashes from `first`, as many as a frame takes; nil behind the last.
    fileprivate func page(from first: Int) -> [UInt8]? {
        guard first >= 0, first < count else { return nil }
        let end = min(first + BulkLimits.hashesPerFrame, count)
        return Array(bytes[first * BlobHash.byteCount..<end * BlobHash.byteCount])
    }
}
