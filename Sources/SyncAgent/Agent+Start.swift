import Crypto
import Foundation
import Logging
import NIOCore
import NIOPosix
import SyncCore
import SyncDiscovery
import SyncModel
import SyncStore
import SyncTransport

extension Agent {
    /// Brings an agent up: keys, store, listener, core, discovery, in this order. When it returns, the agent listens and
    /// dials; whatever failed before is undone.
    ///
    /// - Parameters:
    ///   - reread: makes the configuration anew from its sources, for `reload`; nil: it never changes.
    ///   - upgrading: called again and again while the store of an older program is upgraded, on another thread.
    package static func start(
        _ configuration: AgentConfiguration, version: String, log: AgentLog,
        reread: (@Sendable () throws(ConfigurationError) -> AgentConfiguration)? = nil,
        upgrading: @escaping @Sendable (AgentUpgrade) -> Void = { _ in }
    ) async throws(AgentError) -> Agent {
        let directory = configuration.dataDirectory
        // Before the keys are read.
        ProcessMemory.keepPrivate()
        try DataDirectory.prepare(directory)
        let identity: DeviceIdentity
        do { identity = try DeviceIdentity.loadOrCreate(in: directory) } catch { throw .identity(error) }
        let watch = UpgradeWatch(identity, name: configuration.name, version: version, body: upgrading)
        // An upgrade takes seconds, and the cooperative pool may have one thread, which answers meanwhile.
        let opening = ReadQueue(threadCount: 1)
        defer { opening.close() }
        let (store, blobs) = try await opening.run { () throws(AgentError) in
            try openFiles(directory, identity, version, watch)
        } refused: { _ in
            AgentError.stopping
        }
        let agent = Agent(
            configuration: configuration, version: version, identity: identity, store: store, blobs: blobs,
            eventLoop: MultiThreadedEventLoopGroup.singleton.next(), log: log,
            reread: reread ?? { () throws(ConfigurationError) in configuration })
        let opened: (state: StoreState, tickets: [TicketRecord])
        do throws(StoreError) {
            opened = try await opening.run { () throws(StoreError) in
                if store.isUpgradePending {
                    watch.letRead(agent)
                    try store.finishUpgrade()
                }
                return (try store.state(), try store.tickets())
            } refused: { _ in
                StoreError.closed
            }
        } catch {
            store.close()
            throw .store(error, directory: directory)
        }
        do {
            try await agent.bringUp(identity, opened.state, opened.tickets)
        } catch {
            store.close()
            throw error
        }
        agent.logger.notice(
            "The agent runs.",
            metadata: ["device.id": "\(agent.device.shortID)", "listen.port": "\(agent.listenPort)"])
        return agent
    }

    /// Opens the database and the folder of large blobs. To be called on a thread that may wait.
    private static func openFiles(
        _ directory: String, _ identity: DeviceIdentity, _ version: String, _ watch: UpgradeWatch
    ) throws(AgentError) -> (SQLiteStore, BlobStore) {
        try DataDirectory.finishWipe(directory, of: identity.deviceID)
        if let done = WipeRecord.read(in: directory)?.signed(by: identity, at: WallClock.milliseconds) {
            do throws(StoreError) { try done.write(in: directory) } catch { throw .store(error, directory: directory) }
        }
        let store: SQLiteStore
        do throws(StoreError) {
            store = try DataDirectory.openStore(directory, identity: identity, version: version) { watch.record($0) }
        } catch {
            if case .schemaNewer(let found, let known) = error {
                throw .storeNewer(NewerStore(in: directory, schema: found, known: known, version: version))
            }
            throw .store(error, directory: directory)
        }
        do throws(BlobError) {
            return (store, try DataDirectory.openBlobs(directory, in: store))
        } catch {
            store.close()
            throw .blobs(error, directory: directory)
        }
    }

    private func bringUp(
        _ identity: DeviceIdentity, _ state: StoreState, _ tickets: [TicketRecord]
    ) async throws(AgentError) {
        do {
            try await eventLoop.flatSubmit { [self] in
                build(identity, state, tickets)
                return listen()
            }.get()
            try await eventLoop.submit { [self] in begin(state) }.get()
        } catch let error as ListenError {
            throw .listen(error)
        } catch {
            throw .stopping
        }
    }

    /// Builds everything that lives on the loop; to be called there.
    private func build(_ identity: DeviceIdentity, _ state: StoreState, _ tickets: [TicketRecord]) {
        let own = MemberFact(
            subjectPublicKeyInfo: identity.subjectPublicKeyInfo,
            signingKey: Array(identity.signingKey.publicKey.rawRepresentation), binding: identity.binding,
            discoveryKey: Self.discoveryKey(of: identity), role: .writer, name: configuration.name)
        var membership = Membership(own: own, sinceMilliseconds: WallClock.milliseconds)
        for addition in state.additions { _ = membership.add(addition) }
        var generator = SystemRandomNumberGenerator()
        var settings = CoreConfiguration(
            own: device, name: configuration.name, agentVersion: version, runID: generator.next(),
            seed: generator.next())
        let start = Tick(nanoseconds: Int64(NIODeadline.now().uptimeNanoseconds))
        if let (receipt, addresses) = wiped?.pending(at: WallClock.milliseconds) {
            (settings.wipeReceipt, settings.receiptAddressees) = (receipt, Set(addresses.map(\.0)))
            settings.receiptEnds = start + .milliseconds(wiped?.remaining(at: WallClock.milliseconds) ?? 0)
        }
        settings.exchangesState = configuration.exchangesState
        settings.collectsDeletions = true
        settings.dropsEvents = true
        settings.compacts = configuration.historyRetention != .forever
        // What a device wrote before it was wiped comes back when it joins again.
        if DataDirectory.isRestored(configuration.dataDirectory) || wiped != nil { journal.expectOwnChanges() }
        let core = AgentCore(
            configuration: settings, space: .home, membership: membership,
            tips: state.tips.map { ($0.replica, $0.tip) }, stateDigest: state.digest,
            acknowledgements: state.acknowledgements, ownReplica: state.ownReplica,
            firstHeld: state.firstHeld, floor: state.floor, hasStaging: (try? driver.store.hasStaging()) ?? false,
            cuts: state.cuts, isIncomplete: state.isIncomplete, settled: state.settled, gaveWay: state.gaveWay,
            awaited: state.awaited, hasTakenBack: state.hasTakenBack, blocked: state.blocked,
            at: start)
        let relay = TransportRelay()
        let transport = SessionTransport(
            identity: identity, eventLoop: eventLoop, logger: loggers.transport, events: relay)
        let loop = AgentLoop(
            eventLoop: eventLoop, transport: transport, store: driver, state: state, core: core, journal: journal,
            eventSignal: eventSignal, objectSignal: objectSignal, presenceBoard: presence, loggers: loggers,
            sign: { identity.sign($0) })
        let bulk = BulkLoop(
            eventLoop: eventLoop, transport: transport, driver: blobDriver, arrivals: arrivals,
            core: BulkCore(
                configuration: BulkConfiguration(
                    seed: generator.next(), space: .home, uploadLimit: configuration.uploadLimit?.bytesPerSecond,
                    downloadLimit: configuration.downloadLimit?.bytesPerSecond),
                at: loop.now),
            space: .home, journal: journal, loggers: loggers)
        let presence = PresencePublisher(
            eventLoop: eventLoop, board: presence, own: device, sign: { identity.sign($0) })
        presence.publish = { [weak loop] signed in loop?.step(.presenceChanged(signed)) }
        loop.presence = presence
        relay.connect(sessions: loop, bulk: bulk)
        loop.bulk = bulk
        loop.supersededMilliseconds = configuration.historyRetention.milliseconds
        let states = StateDriver(driver: driver, store: driver.store, eventLoop: eventLoop)
        states.answer = { [weak loop] input in loop?.step(.state(input)) }
        states.committed = { [weak loop] commit in loop?.record(commit) }
        loop.states = states
        let compaction = CompactionDriver(
            store: driver.store, eventLoop: eventLoop, retention: configuration.historyRetention)
        compaction.answer = { [weak loop] input in loop?.step(input) }
        compaction.dropped = { [weak loop] dropped in loop?.handleCompacted(dropped) }
        loop.compaction = compaction
        loop.memberships = MembershipEnds(loop: loop, writer: writer)
        loop.receipts = WipeReceipts(
            loop: loop, writer: writer, directory: configuration.dataDirectory, own: wiped)
        bulk.askForBulk = { [weak loop] device in loop?.step(.askForBulk(device)) }
        bulk.blobsChanged = { [peerSignal] in peerSignal.touch() }
        blobDriver.inlet.connect(to: bulk)
        let profile: @Sendable () -> PairingProfile = { [self] in
            PairingProfile(
                name: self.configuration.name, discoveryKey: own.discoveryKey, addresses: self.reachableAddresses)
        }
        let pairing = PairingDriver(
            loop: loop, writer: writer, identity: identity, tickets: tickets, profile: profile)
        let keys = DiscoveryKeyDriver(loop: loop, writer: writer, faults: configuration.faults)
        let discovery = DiscoveryDriver(loop: loop, keys: keys)
        let codes = CodesDriver(
            loop: loop, discovery: discovery, members: pairing, signal: pairingSignal,
            lifetime: .milliseconds(configuration.pairingMilliseconds), profile: profile)
        loop.membershipChanged = { [weak discovery] in discovery?.membershipChanged() }
        loop.objectsChanged = { [weak discovery] in discovery?.objectsChanged() }
        loop.peersChanged = { [peerSignal] in peerSignal.touch() }
        loop.wipe = { [weak self, weak loop] placed in
            guard let self, let loop else { return }
            let author = placed.dot.replica.device
            let now = WallClock.milliseconds
            let receipt = WipeReceipt(draftFor: placed.dot, milliseconds: now)
            let record = WipeRecord(
                statement: placed.dot, authorName: loop.core.name(of: author) ?? author.shortID, milliseconds: now
            ).telling(receipt, (try? driver.store.addresses()) ?? [])
            Task { [logger] in
                do { try await self.wipe(.home, record) } catch {
                    logger.error("What this device was told to delete is still here.", metadata: ["error": "\(error)"])
                }
            }
        }
        install(Parts(relay: relay, loop: loop, bulk: bulk, discovery: discovery, pairing: pairing, codes: codes))
    }

    private func begin(_ state: StoreState) {
        let running = running
        running.loop.start()
        running.bulk.step(.missingChanged)
        attachments.start(on: eventLoop, journal: journal, logger: loggers.attachments)
        running.discovery.start(DiscoveryConfiguration(configuration), listenPort: listenPort)
        for address in state.addresses {
            running.loop.step(
                .addressAdded(
                    Endpoint(host: address.host, port: address.port), device: address.device,
                    isStatic: address.isStatic))
        }
        for (device, endpoint) in wiped?.pending(at: WallClock.milliseconds)?.addresses ?? [] {
            running.loop.step(.addressAdded(endpoint, device: device, isStatic: false))
        }
    }

    /// A secret of the device's own from which its group's daily tags are made; it follows from the signing key, so there
    /// is no further file to keep.
    private static func discoveryKey(of identity: DeviceIdentity) -> [UInt8] {
        let key = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: identity.signingKey.rawRepresentation),
            info: Array("lanyard/discovery/v1".utf8), outputByteCount: 32)
        return key.withUnsafeBytes { [UInt8]($0) }
    }
}
