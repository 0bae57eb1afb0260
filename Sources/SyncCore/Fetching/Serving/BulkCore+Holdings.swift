import SyncModel

// What peers want to be told of: what is held here of it, at once and whenever that changes.
extension BulkCore {
    mutating func handleWant(_ index: Int, _ want: BulkFrame.Want) {
        links[index].lastUseAt = now
        guard want.space == configuration.space else { return }
        for blob in want.blobs {
            guard remember(index, blob) else { return offend(index, .overLimit) }
            lookUp(index, blob)
        }
    }

    mutating func handleUnwant(_ index: Int, _ unwant: BulkFrame.Unwant) {
        links[index].lastUseAt = now
        for blob in unwant.blobs {
            links[index].serving.wanted.remove(blob)
            links[index].serving.said.remove(blob)
        }
    }

    /// The peer is told of it from now on.
    ///
    /// - Returns: false if it wants too many.
    @discardableResult
    mutating func remember(_ index: Int, _ blob: BlobName) -> Bool {
        guard links[index].serving.wanted.count < BulkLimits.wants else {
            return links[index].serving.wanted.contains(blob)
        }
        links[index].serving.wanted.insert(blob)
        return true
    }

    private mutating func lookUp(_ index: Int, _ blob: BlobName) {
        guard links[index].serving.isToLookUp.insert(blob).inserted else { return }
        links[index].serving.toLookUp.append(blob)
        if links[index].serving.toLookUp.count > 2 * BulkLimits.wants { trimLookUps(index) }
    }

    /// A peer that wants and gives up again and again, and does not read what it is told, must not make this grow: what was
    /// looked up goes, and what it gave up. What it wants is bounded, so half of it is free again, and each entry is moved
    /// about twice.
    private mutating func trimLookUps(_ index: Int) {
        let serving = links[index].serving
        let left = serving.toLookUp[serving.lookUpStart...].filter { serving.wanted.contains($0) }
        (links[index].serving.toLookUp, links[index].serving.lookUpStart) = (left, 0)
        links[index].serving.isToLookUp = Set(left)
    }

    /// Looks the blob up for each peer that wants it: its holding has changed.
    mutating func tellHolding(of blob: BlobName) {
        for index in links.indices where links[index].state == .up && links[index].serving.wanted.contains(blob) {
            lookUp(index, blob)
        }
    }

    /// Looks wanted blobs up again after records came or went: a peer may now see what was held all along.
    mutating func passLookAgain() {
        guard let at = lookAgainAt, now >= at else { return }
        lookAgainAt = nil
        for index in links.indices where links[index].state == .up {
            let serving = links[index].serving
            for blob in serving.wanted.subtracting(serving.said).sorted() { lookUp(index, blob) }
        }
    }

    /// Looks up the next few for a peer that reads what it is told.
    mutating func lookUpNext(_ index: Int) -> Bool {
        guard links[index].serving.lookUp == nil,
            links[index].serving.lookUpStart < links[index].serving.toLookUp.count,
            links[index].serving.bufferedBytes <= configuration.bounds.outboundBytes
        else { return false }
        let start = links[index].serving.lookUpStart
        let end = min(links[index].serving.toLookUp.count, start + configuration.bounds.lookUp)
        let blobs = links[index].serving.toLookUp[start..<end]
        for blob in blobs { links[index].serving.isToLookUp.remove(blob) }
        let wanted = blobs.filter { links[index].serving.wanted.contains($0) }
        links[index].serving.lookUpStart = end
        if end == links[index].serving.toLookUp.count {
            (links[index].serving.toLookUp, links[index].serving.lookUpStart) = ([], 0)
        }
        guard !wanted.isEmpty else { return true }
        let id = ReadID(rawValue: nextID())
        links[index].serving.lookUp = (id, Array(wanted))
        effects.append(.lookUp(id, configuration.space, Array(wanted)))
        return true
    }

    /// Handles the store's answer: tells the peer which of the blobs that it wants are here, and which are not any more.
    mutating func handleLookedUp(_ id: ReadID, _ holdings: [BulkFrame.Holding]) {
        if let blob = looks.removeValue(forKey: id) { return handleLooked(blob, holdings) }
        guard let index = links.firstIndex(where: { $0.serving.lookUp?.id == id }),
            let asked = links[index].serving.lookUp?.blobs
        else { return }
        links[index].serving.lookUp = nil
        guard links[index].state == .up else { return }
        let held = Dictionary(holdings.map { ($0.blob, $0) }, uniquingKeysWith: { first, _ in first })
        for blob in asked where links[index].serving.wanted.contains(blob) {
            if let holding = held[blob], holding.part != .nothing {
                links[index].serving.said.insert(blob)
                send(index, .holding(holding))
            } else if links[index].serving.said.remove(blob) != nil {
                send(index, .holding(BulkFrame.Holding(blob: blob, part: .nothing)))
            }
        }
    }
}
