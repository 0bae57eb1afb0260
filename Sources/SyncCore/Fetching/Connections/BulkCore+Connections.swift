import SyncModel

// Bulk connections: dialled when something is missing on either side, kept while anything is wanted, one for each device.
extension BulkCore {
    // MARK: Sessions

    mutating func handleSessionUp(_ device: DeviceID, _ dial: Endpoint?) {
        let index = peer(device)
        if !peers[index].hasSession { (peers[index].failures, peers[index].nextDialAt) = (0, nil) }
        peers[index].hasSession = true
        peers[index].dial = dial
        doubtAgain()
    }

    mutating func handleSessionDown(_ device: DeviceID) {
        guard let index = peerIndex(device) else { return }
        peers[index].hasSession = false
        pardons.removeAll { $0.device == device }
        for link in links.indices where links[link].device == device { close(link, .sessionEnded) }
        peers.remove(at: index)
        doubtAgain()
    }

    mutating func handleBulkWanted(_ device: DeviceID) {
        guard let index = peerIndex(device), peers[index].dial != nil else { return }
        if let link = upLink(device) {
            // It was on its way while the connection opened; later, the peer has lost the one that is up here.
            guard now >= links[link].openedAt + configuration.timing.helloDeadline else { return }
            close(link, .redundant)
        }
        peers[index].isAsking = true
    }

    private mutating func peer(_ device: DeviceID) -> Int {
        if let index = peerIndex(device) { return index }
        peers.append(BulkPeer(device: device))
        return peers.count - 1
    }

    // MARK: Dialling

    /// True if a connection is to be made: the peer might have what is missing here, or asks for one.
    private func needsLink(_ peer: BulkPeer) -> Bool {
        peer.hasSession && peer.attempt == nil && !links.contains { $0.device == peer.device && $0.state != .closing }
            && (peer.isAsking || (!wants.isEmpty && refusals.diskRetryAt == nil))
    }

    mutating func planDials() {
        for index in peers.indices where needsLink(peers[index]) {
            if let at = peers[index].nextDialAt, now < at { continue }
            if let endpoint = peers[index].dial {
                let id = ConnectionID(rawValue: nextConnection)
                nextConnection += 2
                peers[index].attempt = id
                counters.dials += 1
                effects.append(.dial(id, endpoint))
            } else {
                // It dials, and what becomes of that is not heard here: asked again until a connection is up.
                effects.append(.askForBulk(peers[index].device))
                pauseDialling(index)
            }
        }
    }

    var dialDeadline: Tick? { peers.lazy.filter(needsLink).compactMap(\.nextDialAt).min() }

    mutating func pauseDialling(_ index: Int) {
        let timing = configuration.timing
        let count = min(peers[index].failures + peers[index].offences, 16)
        let ceiling = min(timing.redialGreatest.nanoseconds, timing.redialLeast.nanoseconds << Int64(count))
        // Half of it is chance, so that peers that lost each other at once do not meet at once again and again.
        let wait = Int64.random(in: ceiling / 2...ceiling, using: &random)
        peers[index].failures += 1
        peers[index].nextDialAt = now + Tick.Span(nanoseconds: wait)
    }

    mutating func handleDialFailed(_ id: ConnectionID) {
        guard let index = peers.firstIndex(where: { $0.attempt == id }) else { return }
        peers[index].attempt = nil
        pauseDialling(index)
    }

    // MARK: Beginning and end

    mutating func handleOpened(_ id: ConnectionID, _ device: DeviceID) {
        let expected = peers.firstIndex { $0.attempt == id }
        if let expected { peers[expected].attempt = nil }
        _ = peer(device)
        links.append(
            BulkLink(
                id: id, device: device, deadline: now + configuration.timing.helloDeadline,
                windowBytes: 4 * BlobLayout.chunkBytes, at: now))
        let index = links.count - 1
        if let expected, peers[expected].device != device {
            // Another device answers at that address now.
            pauseDialling(expected)
            return close(index, .redundant)
        }
        send(index, .hello(BulkFrame.Hello(version: BulkProtocol.version, features: BulkProtocol.features)))
    }

    func isGreeting(_ index: Int) -> Bool {
        if case .greeting = links[index].state { true } else { false }
    }

    mutating func accept(_ index: Int, _ hello: BulkFrame.Hello) {
        guard hello.version >= 1 else { return offend(index, .protocolMismatch) }
        let (id, device) = (links[index].id, links[index].device)
        for older in links.indices where links[older].device == device && links[older].state == .up {
            close(older, .redundant)
        }
        guard let index = linkIndex(id) else { return }
        links[index].state = .up
        links[index].lastUseAt = now
        counters.connectionsOpened += 1
        if let peer = peerIndex(device) {
            peers[peer].failures = 0
            peers[peer].nextDialAt = nil
            peers[peer].isAsking = false
        }
        effects.append(.establish(id))
        effects.append(.report(.connected(device)))
        // It may have what was given up.
        listing.unheldCount = 0
        if !listing.givenUp.isEmpty { listing.isStale = true }
        links[index].untold = wants.values.map(\.rank).sorted().map(\.blob)
        doubtAgain()
    }

    mutating func handleMalformed(_ id: ConnectionID, _ code: String) {
        guard let index = linkIndex(id), links[index].state != .closing else { return }
        offend(index, .malformedFrame)
    }

    /// Closes the connection for something that an honest peer does not do.
    mutating func offend(_ index: Int, _ reason: CloseReason) {
        guard links[index].state != .closing else { return }
        counters.offences += 1
        effects.append(.report(.offence(links[index].device, code: reason.rawValue)))
        if let peer = peerIndex(links[index].device) { peers[peer].offences += 1 }
        close(index, reason)
        if let peer = peerIndex(links[index].device) { pauseDialling(peer) }
    }

    mutating func close(_ index: Int, _ reason: CloseReason, sayingGoodbye: Bool = true) {
        guard links[index].state != .closing else { return }
        if sayingGoodbye { send(index, .goodbye(Frame.Goodbye(code: reason.rawValue, message: ""))) }
        effects.append(.close(links[index].id, reason))
        end(index, code: reason.rawValue)
    }

    mutating func handleClosed(_ id: ConnectionID, _ code: String) {
        guard let index = linkIndex(id) else { return handleDialFailed(id) }
        let device = links[index].device
        if links[index].state != .closing {
            end(index, code: code)
            // It went away by itself: at once again, unless that was so before.
            if let peer = peerIndex(device) { pauseDialling(peer) }
        }
        links.remove(at: index)
        if let peer = peerIndex(device), !peers[peer].hasSession, !links.contains(where: { $0.device == device }) {
            peers.remove(at: peer)
        }
    }

    /// Ends a connection. Its requests go to other peers.
    private mutating func end(_ index: Int, code: String) {
        let (device, wasUp) = (links[index].device, links[index].state == .up)
        links[index].state = .closing
        for ask in links[index].asks.keys.sorted() { takeBack(index, ask) }
        links[index].cancelled = [:]
        endServing(index)
        guard wasUp else { return }
        for blob in links[index].told.sorted() {
            guard let want = wants[blob] else { continue }
            if blob.isSmall, case .all = want.holders[device] { effects.append(.recordHolder(blob, device)) }
            wants[blob]?.holders[device] = nil
            dropUnsent(blob)
        }
        planner.disconnected(device)
        (links[index].told, links[index].untold, links[index].small) = ([], [], FetchQueue())
        effects.append(.report(.disconnected(device, code: code)))
        doubtAgain()
    }

    // MARK: Deadlines

    mutating func passLinkDeadlines() {
        for id in links.map(\.id) {
            guard let index = linkIndex(id) else { continue }
            switch links[index].state {
            case .closing: continue
            case .greeting(let deadline): if now >= deadline { offend(index, .helloTimeout) }
            case .up:
                if let at = idleAt(links[index]), now >= at {
                    // A session that never came up counts like one that ended.
                    let hasSession = peerIndex(links[index].device).map { peers[$0].hasSession } ?? false
                    close(index, hasSession ? .idle : .sessionEnded)
                } else if let at = links[index].unwantAt, now >= at {
                    sendUnwants(index)
                }
            }
        }
    }

    /// The time at which the connection ends if nothing is asked. A connection without a session waits for it as long as for
    /// a Hello.
    private func idleAt(_ link: BulkLink) -> Tick? {
        let hasSession = peerIndex(link.device).map { peers[$0].hasSession } ?? false
        guard hasSession else { return link.openedAt + configuration.timing.helloDeadline }
        return link.isUnused ? link.lastUseAt + configuration.timing.idle : nil
    }

    var linkDeadline: Tick? {
        links.lazy.compactMap { link -> Tick? in
            switch link.state {
            case .closing: nil
            case .greeting(let deadline): deadline
            case .up:
                [
                    idleAt(link), link.unwantAt, stallAt(link), silenceAt(link), hashDeadline(link),
                    link.slowUntil.flatMap { $0 > now ? $0 : nil },
                    link.pausedUntil.flatMap { $0 > now ? $0 : nil },
                ].compactMap(\.self).min()
            }
        }.min()
    }
}

/// The protocol version on bulk connections, and its features.
package enum BulkProtocol {
    package static let version: UInt32 = 1
    /// Feature bits this side understands.
    package static let features: UInt64 = 0
}
