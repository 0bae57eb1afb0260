import SyncCore
import SyncModel
import SyncStore

// The requests of a bulk core to its disk, carried out as the agent's driver does with the blob store.
extension World {
    mutating func perform(_ node: Int, _ task: BulkEffect) {
        let answers = onDisk(node) { world, store in world.answers(node, to: task, store) }
        for answer in answers ?? [] {
            // Done and not yet told: a crash may come between. One thread tells them, in their order.
            let at = max(now + milliseconds(0...1), nodes[node].blobs?.answersAfter ?? 0)
            nodes[node].blobs?.answersAfter = at
            queue.plan(.bulk(node: node, generation: nodes[node].generation, answer), at: at)
        }
    }

    /// Something that is done to a disk of blobs, on the machine's own clock.
    /// - Returns: nil when the machine did not outlive it.
    mutating func onDisk<Value>(_ node: Int, _ body: (inout World, BlobStore) -> Value) -> Value? {
        guard let blobs = nodes[node].blobs, let store = blobs.store else { return nil }
        blobs.clock.set(wall(node))
        let failures = blobs.folder.failures
        let value = body(&self, store)
        guard let death = nodes[node].blobs?.dies, blobs.folder.failures > failures else { return value }
        crash(node, losingPower: death == .power)
        return nil
    }

    private mutating func answers(_ node: Int, to task: BulkEffect, _ store: BlobStore) -> [BulkInput] {
        switch task {
        case .begin(let blob, let hashes): [begin(node, blob, hashes, store)]
        case .write(let blob, let chunk, let bytes): [write(node, blob, chunk, bytes, store)]
        case .finish(let blob): finish(node, blob, store)
        case .putAside(let blob): putAside(node, blob)
        case .writeSmall(let id, let blobs): writeSmall(node, id, blobs, store)
        case .listMissing(let id, let except, let limit):
            [.missing(id, Array(missing(node, except: Set(except)).prefix(limit)))]
        case .lookUp(let id, let space, let blobs): [.lookedUp(id, holdings(node, space, blobs, store))]
        case .readHashes(let id, let space, let blob, let first):
            [.hashesRead(id, isNamed(node, space, blob) ? hashes(blob, first, store) : nil)]
        case .readChunk(let id, let space, let blob, let chunk):
            isNamed(node, space, blob) ? readChunk(id, blob, chunk, store) : [.chunkRead(id, nil, .notAllowed)]
        case .readSmall(let id, let space, let blobs): [readSmall(node, id, space, blobs, store)]
        case .dial, .askForBulk, .send, .establish, .setReading, .close, .recordHolder, .progress, .nobodyHas, .report:
            preconditionFailure("no work for a disk")
        }
    }

    // MARK: What comes

    private mutating func begin(
        _ node: Int, _ blob: BlobName, _ hashes: [UInt8]?, _ store: BlobStore
    ) -> BulkInput {
        do throws(BlobError) {
            let partial: BlobPartial?
            if let hashes {
                guard let chunks = ChunkList(bytes: hashes) else { return .hashesWrong(blob) }
                partial = try store.beginPartial(blob, chunks)
            } else {
                partial = try store.resumePartial(blob)
                if partial == nil, try store.status(of: blob) != .whole { return .hashesMissing(blob) }
            }
            nodes[node].blobs?.partials[blob] = partial
            guard let partial else { return .begun(blob, present: ChunkSet.all(of: blob.layout)) }
            let present = try partial.present()
            lookAtPartial(node, blob, present)
            return .begun(blob, present: present)
        } catch {
            if case .wrongHashes = error { return .hashesWrong(blob) }
            return .refused(blob, code: error.simulatedCode)
        }
    }

    private mutating func write(
        _ node: Int, _ blob: BlobName, _ chunk: Int, _ bytes: [UInt8], _ store: BlobStore
    ) -> BulkInput {
        guard let partial = nodes[node].blobs?.partials[blob] else {
            return .chunkWritten(blob, chunk: chunk, .refused(code: "not_begun"))
        }
        do throws(BlobError) {
            _ = try bytes.withUnsafeBufferPointer { bytes throws(BlobError) in
                try partial.write(UnsafeRawBufferPointer(bytes), as: chunk)
            }
            return .chunkWritten(blob, chunk: chunk, .right)
        } catch {
            if case .wrongChunk = error { return .chunkWritten(blob, chunk: chunk, .wrong) }
            return .chunkWritten(blob, chunk: chunk, .refused(code: error.simulatedCode))
        }
    }

    private mutating func finish(_ node: Int, _ blob: BlobName, _ store: BlobStore) -> [BulkInput] {
        defer { nodes[node].blobs?.partials[blob] = nil }
        do throws(BlobError) {
            if let partial = nodes[node].blobs?.partials[blob] {
                try partial.complete()
            } else if try store.status(of: blob) != .whole {
                return [.finishFailed(blob, code: "not_begun")]
            }
        } catch {
            return [.finishFailed(blob, code: error.simulatedCode)]
        }
        recordKept(node, blob)
        return [.finished(blob)]
    }

    private mutating func putAside(_ node: Int, _ blob: BlobName) -> [BulkInput] {
        // Chunks that cannot be made durable now are checked again when the fetch goes on.
        try? nodes[node].blobs?.partials[blob]?.checkpoint()
        nodes[node].blobs?.partials[blob] = nil
        return []
    }

    private mutating func writeSmall(
        _ node: Int, _ id: WriteID, _ blobs: [WholeBlob], _ store: BlobStore
    ) -> [BulkInput] {
        do throws(BlobError) {
            let verdict = try store.receive(blobs.map { (name: $0.name, bytes: $0.bytes) })
            for blob in verdict.right { recordKept(node, blob) }
            return [.smallWritten(id, right: verdict.right, wrong: verdict.wrong, code: nil)]
        } catch {
            return [.smallWritten(id, right: [], wrong: [], code: error.simulatedCode)]
        }
    }

    /// Records that the blob is whole now.
    mutating func recordKept(_ node: Int, _ blob: BlobName) {
        nodes[node].blobs?.awaited.remove(blob)
        lookAt(node, blob, .kept)
    }

    // MARK: What is served

    /// True if a record of the space names the blob; only such blobs may be served.
    private func isNamed(_ node: Int, _ space: SpaceID, _ blob: BlobName) -> Bool {
        !named(node, space, [blob]).isEmpty
    }

    private func named(_ node: Int, _ space: SpaceID, _ blobs: [BlobName]) -> [BlobName] {
        (try? nodes[node].store?.allowed(blobs, space: space)) ?? []
    }

    private func holdings(
        _ node: Int, _ space: SpaceID, _ blobs: [BlobName], _ store: BlobStore
    ) -> [BulkFrame.Holding] {
        let named = named(node, space, blobs)
        guard let holdings = try? store.holdings(of: named) else { return [] }
        return zip(named, holdings).compactMap { blob, holding in
            switch holding {
            case .nothing: nil
            case .chunks(let present):
                present.presentCount == 0 ? nil : BulkFrame.Holding(blob: blob, part: .chunks(present))
            case .all: BulkFrame.Holding(blob: blob, part: .all)
            }
        }
    }

    private func hashes(_ blob: BlobName, _ first: Int, _ store: BlobStore) -> [UInt8]? {
        guard let bytes = try? store.chunks(of: blob)?.bytes else { return nil }
        let start = first * BlobHash.byteCount
        guard start >= 0, start < bytes.count else { return nil }
        return Array(bytes[start...].prefix(BulkLimits.hashesPerFrame * BlobHash.byteCount))
    }

    private func readChunk(_ id: ReadID, _ blob: BlobName, _ chunk: Int, _ store: BlobStore) -> [BulkInput] {
        do throws(BlobError) {
            return [.chunkRead(id, try store.readChunk(chunk, of: blob), nil)]
        } catch {
            switch error {
            case .notHere: return [.chunkRead(id, nil, .notHeld)]
            case .damaged: return [.chunkRead(id, nil, .notHeld)] + afterDamage([blob])
            case .diskFull, .quotaExceeded, .tooLarge, .sourceChanged, .sourceUnreadable, .inputOutput, .unreadable,
                .wrongChunk, .wrongHashes, .incomplete, .store:
                return [.chunkRead(id, nil, .unreadable)]
            }
        }
    }

    /// Reads small blobs. Blobs without a record are left out, and the indexes of the others are those of the request.
    private func readSmall(
        _ node: Int, _ id: ReadID, _ space: SpaceID, _ blobs: [BlobName], _ store: BlobStore
    ) -> BulkInput {
        let allowed = Set(named(node, space, blobs))
        let places = blobs.indices.filter { allowed.contains(blobs[$0]) }
        guard let read = try? store.readSmall(places.map { blobs[$0] }, byteBudget: BulkLimits.smallFrameBytes) else {
            return .smallRead(id, [], next: blobs.count)
        }
        let found = read.blobs.map { blob in
            BulkFrame.SmallBlobs.Blob(index: UInt32(places[blob.index]), bytes: blob.bytes)
        }
        return .smallRead(id, found, next: read.nextIndex < places.count ? places[read.nextIndex] : blobs.count)
    }

    /// Returns the inputs after a look found damage: the blobs count as missing, peers that were told otherwise are informed,
    /// and the blobs are fetched again.
    func afterDamage(_ damaged: [BlobName]) -> [BulkInput] {
        damaged.isEmpty ? [] : damaged.map { .holdingChanged($0) } + [.missingChanged]
    }
}

extension BlobError {
    /// The code reported to the core, which tells a lack of space from an error of one blob.
    fileprivate var simulatedCode: String {
        switch self {
        case .quotaExceeded: BulkConfiguration.quotaCode
        case .diskFull: BulkConfiguration.diskFullCode
        case .tooLarge, .sourceChanged, .sourceUnreadable, .inputOutput, .unreadable, .notHere, .damaged, .wrongChunk,
            .wrongHashes, .incomplete, .store:
            "\(self)"
        }
    }
}

extension ChunkSet {
    fileprivate static func all(of layout: BlobLayout) -> ChunkSet {
        var set = ChunkSet(count: layout.chunkCount)
        for chunk in 0..<layout.chunkCount { set.insert(chunk) }
        return set
    }
}
