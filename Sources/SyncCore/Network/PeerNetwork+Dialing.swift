import SyncModel

// Dialling: at once on every sign of life, all addresses of a peer side by side; otherwise with back-off.
extension PeerNetwork {
    // MARK: Signs of life

    /// Handles the mDNS record of another agent's instance: its addresses may be dialled at once.
    mutating func handleRecord(_ instance: String, _ endpoints: [Endpoint], at now: Tick) {
        guard instance != self.instance else { return }
        // An instance that moved leaves its old addresses behind.
        book.updateAll { target in
            if !endpoints.contains(target.endpoint) { target.instances.removeAll { $0 == instance } }
        }
        // A record of a connected peer is no reason to dial. It says where to dial should the session end.
        let device = sessions.first { $0.state == .up && $0.peerInstance == instance }?.device
        for endpoint in endpoints {
            guard let index = book.insert(endpoint, limit: settings.bounds.dialTargets) else { continue }
            book.update(index) { [now] target in
                if !target.instances.contains(instance) {
                    target.instances.append(instance)
                    target.instances.sort()
                }
                if let device { target.device = device }
                target.isRemoved = false
                target.wake(at: now)
            }
        }
        book.removeUnvouched()
    }

    mutating func handleRecordVanished(_ instance: String) {
        book.updateAll { target in target.instances.removeAll { $0 == instance } }
        book.removeUnvouched()
    }

    mutating func handleNetworkChanged(_ output: inout StepOutput) {
        wakeDials(at: output.now)
        // A session that survived answers; one that did not is found out within a second instead of fifteen.
        for index in upSessions { sendPing(index, &output) }
    }

    /// Makes every address due at once, whatever its back-off.
    mutating func wakeDials(at now: Tick) {
        book.updateAll { [now] target in target.wake(at: now) }
    }

    mutating func handleAddress(_ endpoint: Endpoint, _ device: DeviceID?, _ isStatic: Bool, at now: Tick) {
        guard let index = book.insert(endpoint, limit: settings.bounds.dialTargets) else { return }
        book.update(index) { [now] target in
            if isStatic { target.isStatic = true } else { target.isLastKnown = true }
            if let device { target.device = device }
            target.isRemoved = false
            target.wake(at: now)
        }
    }

    mutating func handleAddressRemoved(_ endpoint: Endpoint) {
        guard let index = book.index(of: endpoint) else { return }
        book.update(index) { target in
            (target.isStatic, target.isLastKnown) = (false, false)
            target.isRemoved = !target.isVouched
        }
        book.removeUnvouched()
    }

    // MARK: Outcomes

    mutating func recordDialOpened(_ id: ConnectionID, _ device: DeviceID) {
        guard let index = book.targets.firstIndex(where: { $0.attempt == id }) else { return }
        book.update(index) { target in
            target.device = device
            target.lastFailure = nil
        }
    }

    mutating func markOwnAddress(_ id: ConnectionID) {
        guard let index = book.targets.firstIndex(where: { $0.attempt == id }) else { return }
        book.update(index) { $0.isOwn = true }
    }

    /// Handles a dial that led to no session: the address is tried again after a back-off.
    mutating func handleDialFailed(_ id: ConnectionID, _ code: String, at now: Tick) {
        guard let index = book.targets.firstIndex(where: { $0.attempt == id }) else { return }
        let isRecent = isRecentlyMet(book.targets[index].device, at: now)
        let timing = settings.timing
        let failures = min(book.targets[index].failures, 16)
        let ceiling = min(timing.backoffGreatest.nanoseconds, timing.backoffLeast.nanoseconds << Int64(failures))
        // Full jitter (Brooker 2015) for the many; a member met within the hour is tried steadily.
        let wait =
            isRecent
            ? timing.recentRedial
            : Tick.Span(nanoseconds: Int64.random(in: timing.backoffLeast.nanoseconds...ceiling, using: &random))
        book.update(index) { [now] target in
            target.attempt = nil
            if code == CloseReason.ownDevice.rawValue { target.isOwn = true }
            target.failures += 1
            target.nextAt = now + wait
            target.lastFailure = code
            target.lastFailureAt = now
        }
        if book.targets[index].isRemoved { book.removeUnvouched() }
    }

    private func isRecentlyMet(_ device: DeviceID?, at now: Tick) -> Bool {
        guard let device, let at = book.lastConnected(device) else { return false }
        return now - at < settings.timing.recent
    }

    /// Remembers the address of a session that is up, and that its mDNS instance belongs to the device.
    mutating func recordSessionUp(_ index: Int, _ hello: Frame.Hello, _ output: inout StepOutput) {
        let session = sessions[index]
        book.recordConnected(session.device, at: output.now)
        // The mDNS record of this instance means this device from now on, however we met.
        book.updateAll { target in
            // The attempt is over; should this session fall silent, the address may be dialled beside it.
            if target.attempt == session.id { target.attempt = nil }
            if !hello.instance.isEmpty, target.instances.contains(hello.instance) { target.device = session.device }
        }
        // A person who removes an address does not want it to come back by a dial that was under way.
        let isRemoved = book.index(of: session.address).map { book.targets[$0].isRemoved } ?? false
        book.removeUnvouched()
        guard !isRemoved, session.id.isOutbound || session.listenPort != 0,
            let target = book.insert(session.address, limit: settings.bounds.dialTargets)
        else { return }
        book.update(target) { target in
            target.device = session.device
            target.isLastKnown = true
            target.failures = 0
        }
        output.emit(.remember(session.address, session.device))
    }

    /// Records why the peer ended the session, by its `Goodbye`: that says more than the socket's end.
    mutating func recordFarewell(_ id: ConnectionID, code: String, at now: Tick) {
        guard let session = sessions.first(where: { $0.id == id }) else { return }
        book.updateAll { [now] target in
            guard target.attempt == id || target.device == session.device else { return }
            target.lastFailure = code
            target.lastFailureAt = now
        }
    }

    /// Handles the end of a session. One that was up is a sign of life: its addresses are tried at once. One that never was
    /// counts as a failed dial.
    mutating func recordSessionEnded(_ session: PeerSession, wasUp: Bool, code: String, at now: Tick) {
        guard wasUp else { return handleDialFailed(session.id, code, at: now) }
        book.recordConnected(session.device, at: now)
        // At once, unless it was at once before: a peer that accepts and hangs up must not make us spin.
        let isShort = now - session.openedAt < .seconds(1)
        var again = isShort ? now + settings.timing.recentRedial : now
        // Another holder of our key has our place there, and keeps it, or the device says that this one was revoked: looking
        // again now and then is enough.
        if session.isBarredThere || isShort && twins.isRefused(by: session.device) {
            again = now + settings.timing.refusedRedial
        }
        book.updateAll { target in
            if target.attempt == session.id { target.attempt = nil }
            if target.device == session.device { target.nextAt = again }
        }
    }

    /// True if a trusted member was met at this address, or a user gave it.
    func isKnownAddress(_ host: String) -> Bool {
        book.targets.contains { target in
            target.endpoint.host == host && (target.isStatic || target.device.map { isTrusted($0) } ?? false)
        }
    }

    /// True if a discovery record names this address.
    func isNamedAddress(_ host: String) -> Bool {
        book.targets.contains { $0.endpoint.host == host && !$0.instances.isEmpty }
    }

    // MARK: Planning

    /// True if the device has a session that works, or is about to.
    private func isServed(_ device: DeviceID, at now: Tick) -> Bool {
        sessions.contains { $0.device == device && $0.state != .closing && !isSuspected($0, at: now) }
    }

    /// True if the address should be dialled: not ours, not removed, not under way, and of an unknown device, or of one that lacks
    /// a session and is trusted or to be told of a wipe.
    private func isWanted(_ target: DialBook.Target, at now: Tick) -> Bool {
        guard !target.isOwn, !target.isRemoved, target.attempt == nil, target.nextAt != nil else { return false }
        guard let device = target.device else { return true }
        guard !isServed(device, at: now) else { return false }
        return isTrusted(device) ? isInActiveView(device) : isAddressee(device)
    }

    /// True if the device is among those to keep sessions with. Up to the limit these are all. Beyond it they are our two
    /// neighbours in the ring of devices, which keeps the graph connected, and others by a hash of the pair that both ends
    /// compute alike.
    private func isInActiveView(_ device: DeviceID) -> Bool {
        let others = trusted
        let limit = settings.bounds.connections
        guard others.count > limit else { return true }
        let successor = others.first { $0 > settings.own } ?? others[0]
        let predecessor = others.last { $0 < settings.own } ?? others[others.count - 1]
        if device == successor || device == predecessor { return true }
        let ranked = others.sorted { pairRank($0) < pairRank($1) }
        return ranked.prefix(limit - 2).contains(device)
    }

    private func pairRank(_ device: DeviceID) -> UInt64 {
        let (low, high) = (min(device, settings.own), max(device, settings.own))
        let folded = zip(low.bytes, high.bytes).reduce(UInt64(0)) { ($0 &* 31) &+ UInt64($1.0) &* 257 &+ UInt64($1.1) }
        var mixed = SplitMix64(seed: folded)
        return mixed.next()
    }

    func nextDialAt(at now: Tick) -> Tick? {
        book.targets.compactMap { isWanted($0, at: now) ? $0.nextAt : nil }.min()
    }

    /// Looks at everything that any input may have moved: addresses to dial, and bulk connections.
    mutating func plan(_ output: inout StepOutput) {
        planDials(&output)
        tellBulkPeers(&output)
    }

    /// Dials every wanted address whose time has come: the one place that emits `Effect.dial`.
    private mutating func planDials(_ output: inout StepOutput) {
        if !addressees.isEmpty, output.now >= settings.configuration.receiptEnds {
            addressees = []
            emitTrust(&output)
        }
        for index in book.targets.indices {
            guard isWanted(book.targets[index], at: output.now), let at = book.targets[index].nextAt, at <= output.now
            else { continue }
            let id = ConnectionID(rawValue: output.nextID() * 2 + 1)
            book.update(index) { $0.attempt = id }
            output.emit(.dial(id, book.targets[index].endpoint))
        }
    }
}
