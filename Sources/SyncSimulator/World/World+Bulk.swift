import SyncCore
import SyncModel
import SyncStore

// The cores that move bytes: started, stepped, woken, and what they ask of sessions and connections.
extension World {
    /// Before the world begins.
    mutating func giveBlobs() {
        guard options.blobs != nil else { return }
        do throws(StoreError) {
            for node in nodes.indices { nodes[node].blobs = try SimulatedBlobs(nodes[node].device) }
        } catch {
            fail("start", "there is no place for databases: \(error)")
        }
    }

    mutating func handleBulk(_ event: Event) {
        switch event {
        case .bulk(let node, let generation, let input):
            guard isReady(node, generation, event) else { return }
            // As the transport does, which looks at the key a second time: the device may have been revoked meanwhile.
            if case .opened(let id, let device) = input, device != nodes[node].device.id,
                !nodes[node].trusted.contains(device)
            {
                return close(node, id, code: "not_paired")
            }
            stepBulk(node, input)
        case .bulkWake(let node, let generation):
            guard isReady(node, generation, event) else { return }
            nodes[node].blobs?.wakeAt = nil
            stepBulk(node, .deadlinePassed)
        case .blobTask(let node, let generation, let task):
            if isReady(node, generation, event) { perform(node, task) }
        case .blobWork(let node, let generation, let work):
            if case .freeDisk = work { nodes[node].blobs?.folder.setFreeBytes(nil) }
            if isReady(node, generation ?? nodes[node].generation, event) { perform(node, work) }
        case .blobFault(let fault): inflict(fault)
        case .input, .wake, .persist, .seal, .read, .stability, .state, .commit, .answer, .dial, .packet, .hostile,
            .thief, .write,
            .pair, .start, .cutTail, .revert, .fault, .changeVersion, .unblock, .setClock, .look, .inspect, .heal:
            preconditionFailure("an event of records")
        }
    }

    /// A new process on the disk as it is.
    mutating func startBlobs(_ node: Int) {
        guard let options = options.blobs, let blobs = nodes[node].blobs, let records = nodes[node].store else {
            return
        }
        blobs.clock.set(wall(node))
        blobs.needs.set(records, blobs.folder)
        var keeping = BlobConfiguration(run: blobRandom.next(), now: { [clock = blobs.clock] in clock.now })
        keeping.reserveBytes = 0
        keeping.quotaBytes = (try? records.quota(of: .home)) ?? nil
        keeping.graceMilliseconds = options.graceMilliseconds
        keeping.checkpointChunks = 2
        keeping.faults = bug?.blobs ?? []
        let store: BlobStore
        do {
            store = try BlobStore(blobs.database, files: blobs.folder, needs: blobs.needs, keeping)
        } catch {
            return fail("start", "node \(node) cannot open its blobs: \(error)")
        }
        // As an agent does: what an end without warning left over goes, unless the disk refuses.
        _ = try? store.sweepStrays()
        var moving = BulkConfiguration(
            seed: blobRandom.next(), uploadLimit: options.uploadLimit, downloadLimit: options.downloadLimit)
        moving.bounds = options.bounds
        // Pauses of minutes would only make a run longer.
        moving.timing.refusalLeast = .seconds(1)
        moving.timing.refusalGreatest = .seconds(20)
        moving.timing.redialGreatest = .seconds(20)
        moving.timing.lieLeast = .seconds(4)
        moving.timing.lieGreatest = .seconds(60)
        moving.faults = bug?.bulk ?? []
        nodes[node].blobs?.store = store
        nodes[node].blobs?.core = BulkCore(configuration: moving, at: Tick(nanoseconds: now))
        let named = namedBlobs(node)
        nodes[node].blobs?.named = named
        check { $0.bulkStarted(node: node) }
        lookAtAll(node, .started)
        // No process is left that waits for them.
        nodes[node].blobs?.awaited = []
        stepBulk(node, .missingChanged)
    }

    mutating func stepBulk(_ node: Int, _ input: BulkInput) {
        guard failure == nil, var core = nodes[node].blobs?.core else { return }
        nodes[node].blobs?.core = nil
        let effects = core.step(input, at: Tick(nanoseconds: now))
        let load = core.load
        nodes[node].blobs?.core = core
        if let bounds = options.blobs?.bounds {
            let step = BulkStep(
                node: node, at: Tick(nanoseconds: now), input: input, effects: effects, load: load, bounds: bounds,
                timing: core.configuration.timing)
            check { $0.bulkStepped(step) }
        }
        perform(node, effects)
        planBulkWake(node)
    }

    private mutating func planBulkWake(_ node: Int) {
        guard let deadline = nodes[node].blobs?.core?.nextDeadline else { return }
        // A deadline in the past is passed at once, but not in the same instant, so that time goes on.
        let at = max(deadline.nanoseconds, now + 1_000)
        if let planned = nodes[node].blobs?.wakeAt, planned <= at { return }
        nodes[node].blobs?.wakeAt = at
        queue.plan(.bulkWake(node: node, generation: nodes[node].generation), at: at)
    }

    private mutating func perform(_ node: Int, _ effects: [BulkEffect]) {
        for effect in effects where failure == nil && nodes[node].isUp {
            switch effect {
            case .dial(let id, let endpoint): dial(node, id, endpoint, isBulk: true)
            case .askForBulk(let device):
                // After what else this step asks for.
                queue.plan(.input(node: node, generation: nodes[node].generation, .askForBulk(device)), at: now)
            case .send(let id, let frame): send(node, id, frame)
            case .establish: break
            case .setReading(let id, let isReading): setReading(node, id, isReading)
            case .close(let id, let reason): close(node, id, code: reason.rawValue)
            case .listMissing, .lookUp, .readHashes, .readChunk, .readSmall: planRead(node, effect)
            case .begin, .write, .finish, .putAside, .writeSmall: planWrite(node, effect)
            case .recordHolder, .progress: break
            case .nobodyHas(let blob):
                trace.record(now, node, "finds nobody with \(blob.shortName)")
                // Not all may have met yet: a person asks again.
                if !isFaulty, nodes[node].blobs?.awaited.contains(blob) ?? false {
                    queue.plan(.blobWork(node: node, generation: nil, .fetch), at: now + 5_000_000_000)
                }
            case .report(let report): trace.record(now, node, "\(report.shortText)")
            }
        }
    }

    private mutating func planWrite(_ node: Int, _ task: BulkEffect) {
        let at = max(now, nodes[node].blobs?.writesFreeAt ?? 0) + milliseconds(options.diskMilliseconds)
        nodes[node].blobs?.writesFreeAt = at
        queue.plan(.blobTask(node: node, generation: nodes[node].generation, task), at: at)
    }

    private mutating func planRead(_ node: Int, _ task: BulkEffect) {
        let at = max(now, nodes[node].blobs?.readsFreeAt ?? 0) + milliseconds(options.diskMilliseconds)
        nodes[node].blobs?.readsFreeAt = at
        queue.plan(.blobTask(node: node, generation: nodes[node].generation, task), at: at)
    }

    // MARK: Records

    /// Returns the blobs that policy or pins want and that are missing, in the order in which to fetch them.
    func missing(_ node: Int, except: Set<BlobName>) -> [BlobWant] {
        guard let records = nodes[node].store, let store = nodes[node].blobs?.store else { return [] }
        let here = blobContents.map(\.name).filter { (try? store.status(of: $0)) == .whole }
        let missing = try? records.missingBlobs(of: .home, except: except.union(here), limit: .max)
        return (missing ?? []).map { BlobWant($0) }
    }

    /// Returns the blobs that the node's records name now.
    func namedBlobs(_ node: Int) -> Set<BlobName> {
        let references = (try? nodes[node].store?.references(of: .home, after: nil, limit: .max)) ?? []
        return Set(references.lazy.filter(\.isHeld).map(\.blob))
    }

    /// Records came or went.
    mutating func handleRecords(_ node: Int) {
        guard let before = nodes[node].blobs?.named, nodes[node].blobs?.core != nil else { return }
        let named = namedBlobs(node)
        guard named != before else { return }
        nodes[node].blobs?.named = named
        for gone in before.subtracting(named).sorted() {
            nodes[node].blobs?.awaited.remove(gone)
            stepBulk(node, .unwanted(gone))
        }
        stepBulk(node, .missingChanged)
    }
}

extension BlobWant {
    init(_ missing: MissingBlob) {
        self.init(blob: missing.blob, stamp: missing.stamp, isBegun: missing.isBegun)
    }
}

extension BlobHash {
    /// Enough of it for a line of a trace.
    var shortName: String { Array(bytes.prefix(4)).hexadecimal }
}

extension BlobName {
    var shortName: String { "\(hash.shortName) of \(size) bytes" }
}

extension BulkReport {
    fileprivate var shortText: String {
        switch self {
        case .connected(let device): "has a bulk connection with \(device)"
        case .disconnected(let device, let code): "has no bulk connection with \(device) any more: \(code)"
        case .fetched(let blob): "has fetched \(blob.shortName)"
        case .wrongBytes(let device, let blob): "gets wrong bytes of \(blob.shortName) from \(device)"
        case .slow(let device): "finds \(device) slow"
        case .refusedHere(let blob, let code): "has no room for \(blob.shortName): \(code)"
        case .offence(let device, let code): "is offended by \(device): \(code)"
        }
    }
}
