import SyncModel

// Small blobs: many in one request, whole, and kept in one transaction as they came together.
extension BulkCore {
    mutating func handleSmallBlobs(_ index: Int, _ answer: BulkFrame.SmallBlobs) {
        if let ask = links[index].asks[answer.id] {
            guard case .small(let blobs, var came) = ask.subject else { return offend(index, .unsolicited) }
            guard Self.mark(answer, &came) else { return offend(index, .unsolicited) }
            // First of all, so that what is taken back below are the others.
            links[index].asks[answer.id]?.subject = .small(blobs, came: came)
            var bytes = 0
            for blob in answer.blobs {
                bytes += blobs[Int(blob.index)].weight
                take(index, blobs[Int(blob.index)], blob.bytes)
            }
            // Too many lies may have ended it.
            guard links[index].state == .up else { return }
            recordProgress(index, answer.id, ask.sentAt, bytes: bytes)
            guard answer.isLast else { return }
            for place in blobs.indices where !came.contains(place) {
                loseHolder(blobs[place], links[index].device)
                // To have asked for it counts as a want.
                if wants[blobs[place]] == nil { unwant(index, blobs[place]) }
            }
            takeBack(index, answer.id)
        } else if case .small(let blobs, var came) = links[index].cancelled[answer.id]?.subject {
            guard Self.mark(answer, &came) else { return offend(index, .unsolicited) }
            for blob in answer.blobs { takeLate(index, blobs[Int(blob.index)], blob.bytes) }
            links[index].cancelled[answer.id]?.subject = .small(blobs, came: came)
            if answer.isLast { links[index].cancelled[answer.id] = nil }
        } else {
            offend(index, .unsolicited)
        }
    }

    /// - Returns: false if the answer has what was not asked for, or came before.
    private static func mark(_ answer: BulkFrame.SmallBlobs, _ came: inout ChunkSet) -> Bool {
        answer.blobs.allSatisfy { Int($0.index) < came.count && came.insert(Int($0.index)) }
    }

    private mutating func take(_ index: Int, _ blob: BlobName, _ bytes: [UInt8]) {
        let connection = links[index].id
        counters.smallReceived += 1
        guard let want = wants[blob], want.stage == .asked(connection) || want.stage == .waiting else {
            // The blob is not wanted any more, or another peer was quicker.
            return release(connection, blob.weight)
        }
        guard bytes.count == blob.size else {
            release(connection, blob.weight)
            counters.smallWrong += 1
            giveUp(blob, askedOf: connection)
            return lied(links[index].device, blob)
        }
        keep(index, blob, bytes)
    }

    private mutating func takeLate(_ index: Int, _ blob: BlobName, _ bytes: [UInt8]) {
        counters.smallReceived += 1
        guard let stage = wants[blob]?.stage, bytes.count == blob.size,
            flightBytes + blob.weight <= configuration.bounds.windowBytes,
            !configuration.faults.contains(.forgetCancelled)
        else { return }
        switch stage {
        case .waiting, .asked: break
        case .writing, .beginning, .lackingHashes, .askingHashes, .proving, .fetching, .finishing: return
        }
        reserve(index, blob.weight)
        keep(index, blob, bytes)
    }

    private mutating func keep(_ index: Int, _ blob: BlobName, _ bytes: [UInt8]) {
        wants[blob]?.stage = .writing
        unwrittenBytes += blob.weight
        let write = BulkWrite(connection: links[index].id, device: links[index].device, bytes: blob.weight)
        smallPending.append((WholeBlob(name: blob, bytes: bytes), write))
    }

    /// Stops waiting for the blob from this connection. Other peers that have it may be asked.
    mutating func giveUp(_ blob: BlobName, askedOf connection: ConnectionID) {
        guard wants[blob]?.stage == .asked(connection) else { return }
        wants[blob]?.stage = .waiting
        enqueue(blob)
    }

    // MARK: To the disk

    /// Writes the blobs that came together in one transaction. Blobs that come while two are under way go into the next.
    mutating func planSmallWrites() {
        while !smallPending.isEmpty, smallWrites.count < configuration.bounds.smallWrites {
            var (count, bytes) = (0, 0)
            while count < smallPending.count,
                count == 0 || bytes + smallPending[count].write.bytes <= configuration.bounds.smallWriteBytes
            {
                bytes += smallPending[count].write.bytes
                count += 1
            }
            let id = WriteID(rawValue: nextID())
            smallWrites[id] = smallPending.prefix(count).map { ($0.blob.name, $0.write) }
            effects.append(.writeSmall(id, smallPending.prefix(count).map(\.blob)))
            smallPending.removeFirst(count)
        }
    }

    mutating func handleSmallWritten(_ id: WriteID, _ right: [BlobName], _ wrong: [BlobName], _ code: String?) {
        guard let batch = smallWrites.removeValue(forKey: id) else { return }
        let (right, wrong) = (Set(right), Set(wrong))
        if !right.isEmpty { refusals.recordSuccess() }
        for (blob, write) in batch {
            unwrittenBytes -= write.bytes
            release(write.connection, write.bytes)
            guard wants[blob]?.stage == .writing else { continue }
            if right.contains(blob) {
                recordFetched(blob)
                continue
            }
            wants[blob]?.stage = .waiting
            if wrong.contains(blob) {
                counters.smallWrong += 1
                lied(write.device, blob)
                enqueue(blob)
            } else {
                refuseBytes(blob, code ?? "")
            }
        }
    }
}
