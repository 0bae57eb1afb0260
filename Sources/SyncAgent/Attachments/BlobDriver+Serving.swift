import NIOCore
package import SyncCore
import SyncModel
package import SyncStore
import Synchronization

// What is read: what is missing here, and what peers ask for, of what a record of the space names.
extension BlobDriver {
    func listMissing(_ id: ListID, in space: SpaceID, except: [BlobName], limit: Int) {
        serving.start { [self] in
            do throws(StoreError) {
                let missing = try store.store.missingBlobs(of: space, except: Set(except), limit: limit)
                inlet.tell(.missing(id, missing.map(BlobWant.init)))
            } catch {
                record(.store(error))
                inlet.tell(.missing(id, []))
                // The core takes that for all there is.
                inlet.tell(.missingChanged, after: .seconds(10))
            }
        }
    }

    func lookUp(_ id: ReadID, _ space: SpaceID, _ names: [BlobName]) {
        serving.start { [self] in
            do throws(BlobError) {
                let allowed = try allowed(names, space)
                let held = zip(allowed, try blobs.holdings(of: allowed))
                inlet.tell(.lookedUp(id, held.compactMap { BulkFrame.Holding(of: $0, $1) }))
            } catch {
                record(error)
                inlet.tell(.lookedUp(id, []))
            }
        }
    }

    func readHashes(_ id: ReadID, _ space: SpaceID, _ blob: BlobName, first: Int) {
        serving.start { [self] in
            do throws(BlobError) {
                guard try !allowed([blob], space).isEmpty, let found = try blobs.chunks(of: blob) else {
                    return inlet.tell(.hashesRead(id, nil))
                }
                inlet.tell(.hashesRead(id, found.page(from: first)))
            } catch {
                record(error)
                inlet.tell(.hashesRead(id, nil))
            }
        }
    }

    func readChunk(_ id: ReadID, _ space: SpaceID, _ blob: BlobName, chunk: Int) {
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

    func readSmall(_ id: ReadID, _ space: SpaceID, _ names: [BlobName]) {
        serving.start { [self] in
            do throws(BlobError) {
                let allowed = Set(try allowed(names, space))
                let places = names.indices.filter { allowed.contains(names[$0]) }
                let small = try blobs.readSmall(places.map { names[$0] }, byteBudget: BulkLimits.smallFrameBytes)
                let read = small.blobs.map { blob in
                    BulkFrame.SmallBlobs.Blob(index: UInt32(places[blob.index]), bytes: blob.bytes)
                }
                let next = small.nextIndex < places.count ? places[small.nextIndex] : names.count
                inlet.tell(.smallRead(id, read, next: next))
                // Nothing changed with what was never here.
                guard !small.unreadable.isEmpty else { return }
                inlet.tell(small.unreadable.map { .holdingChanged($0) } + [.missingChanged])
            } catch {
                // All count as looked at, and not held: the peer hears of them when they are.
                record(error)
                inlet.tell(.smallRead(id, [], next: names.count))
            }
        }
    }

    private func allowed(_ names: [BlobName], _ space: SpaceID) throws(BlobError) -> [BlobName] {
        do throws(StoreError) { return try store.store.allowed(names, space: space) } catch { throw .store(error) }
    }
}

extension BlobWant {
    package init(_ missing: MissingBlob) {
        self.init(blob: missing.blob, stamp: missing.stamp, isBegun: missing.isBegun)
    }
}

extension BulkFrame.Holding {
    /// Nil: nothing of it can be served.
    fileprivate init?(of blob: BlobName, _ held: BlobHolding) {
        switch held {
        case .nothing: return nil
        case .chunks(let chunks):
            guard chunks.presentCount > 0 else { return nil }
            self.init(blob: blob, part: .chunks(chunks))
        case .all: self.init(blob: blob, part: .all)
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
