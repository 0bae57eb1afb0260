import Logging
import NIOCore
import SyncCore
import SyncModel
import SyncTransport

/// Interprets the bulk core's effects, on the event loop of the agent, beside `AgentLoop`. It decides nothing.
///
/// Not `Sendable`: everything here runs on its loop. Questions to the disk run on the blob driver's threads, and the answers
/// come back as inputs.
final class BulkLoop: CoreLoop {
    let eventLoop: any EventLoop
    let transport: SessionTransport
    private let driver: BlobDriver
    private let arrivals: Arrivals
    private let holders: HolderNotes
    let journal: AgentJournal
    let loggers: AgentLoggers
    private let space: SpaceID
    let timer: DeadlineTimer
    var core: BulkCore
    var logger: Logger { loggers.attachments }
    private(set) var figures = BlobFigures()
    /// Called with the number of each dial: its events belong here.
    var willDial: (UInt64) -> Void = { _ in }
    /// Called on a later turn of the loop: the device is to be asked, over its session, to dial us.
    var askForBulk: (DeviceID) -> Void = { _ in }
    /// Called when the stored blobs, or their progress, have changed.
    var blobsChanged: () -> Void = {}

    private var politeSince: Tick?
    private var recordsPause: Scheduled<Void>?
    private var hasNewRecords = false
    /// The code of the last refusal of our own disk that was logged; nil once something was kept again.
    private var lastRefusal: String?
    var isStopped = false

    init(
        eventLoop: any EventLoop, transport: SessionTransport, driver: BlobDriver, arrivals: Arrivals, core: BulkCore,
        space: SpaceID, journal: AgentJournal, loggers: AgentLoggers
    ) {
        self.eventLoop = eventLoop
        self.transport = transport
        self.driver = driver
        self.arrivals = arrivals
        holders = HolderNotes(store: driver.store, eventLoop: eventLoop)
        self.core = core
        self.space = space
        self.journal = journal
        self.loggers = loggers
        timer = DeadlineTimer(eventLoop: eventLoop)
        timer.onDeadline = { [weak self] in self?.step(.deadlinePassed) }
    }

    func step(_ input: BulkInput) {
        if !isStopped { record(input) }
        stepCore(input)
    }

    /// Says goodbye to every peer; nothing is stepped afterwards.
    func stop() {
        guard stopCore() else { return }
        recordsPause?.cancel()
        holders.write()
    }

    /// Tells the core of commits. It need not hear of all: what it hears is good for longer.
    func handleChangesMoved() {
        guard !isStopped, politeSince.map({ now - $0 >= .milliseconds(50) }) ?? true else { return }
        politeSince = now
        step(.changesMoved)
    }

    /// Tells the core that a commit changed objects, and with them perhaps the missing blobs. Commits come in bursts: the first
    /// is told at once, those within a moment after it together.
    func handleRecordsChanged() {
        guard !isStopped else { return }
        guard recordsPause == nil else {
            hasNewRecords = true
            return
        }
        let loop = NIOLoopBound(self, eventLoop: eventLoop)
        recordsPause = eventLoop.scheduleTask(in: .milliseconds(50)) { loop.value.endRecordsPause() }
        step(.missingChanged)
    }

    private func endRecordsPause() {
        recordsPause = nil
        guard hasNewRecords else { return }
        hasNewRecords = false
        handleRecordsChanged()
    }

    /// Updates waiting callers and metrics before the core sees the input.
    private func record(_ input: BulkInput) {
        switch input {
        case .received(_, .chunk(let chunk), _): figures.bytesIn += UInt64(chunk.bytes.count)
        case .received(_, .smallBlobs(let small), _):
            figures.bytesIn += small.blobs.reduce(0) { $0 + UInt64($1.bytes.count) }
        case .begun(let blob, let present): arrivals.resumed(blob, present)
        case .refused(let blob, _): arrivals.ended(blob)
        case .finished(let blob): handleArrived([blob])
        case .smallWritten(_, let right, _, _): handleArrived(right)
        default: break
        }
    }

    private func handleArrived(_ blobs: [BlobName]) {
        guard !blobs.isEmpty else { return }
        for blob in blobs { arrivals.arrived(blob) }
        lastRefusal = nil
        blobsChanged()
    }

    // MARK: Effects

    func perform(_ effects: [BulkEffect]) {
        for effect in effects {
            switch effect {
            case .dial(let id, let endpoint): dial(id, endpoint)
            case .askForBulk(let device): askLater(device)
            case .send(let id, let frame): send(id, frame)
            case .establish(let id): transport.markEstablished(id.rawValue)
            case .setReading(let id, let isReading): transport.setReading(id.rawValue, isReading)
            case .close(let id, _): transport.close(id.rawValue)
            case .listMissing(let id, let except, let limit):
                driver.listMissing(id, in: space, except: except, limit: limit)
            case .begin(let blob, let hashes):
                arrivals.began(blob)
                driver.begin(blob, hashes: hashes)
            case .write(let blob, let chunk, let bytes): driver.write(blob, chunk: chunk, bytes)
            case .finish(let blob): driver.finish(blob)
            case .putAside(let blob):
                arrivals.ended(blob)
                driver.putAside(blob)
                blobsChanged()
            case .writeSmall(let id, let batch): driver.writeSmall(id, batch)
            case .lookUp(let id, let space, let blobs): driver.lookUp(id, space, blobs)
            case .readHashes(let id, let space, let blob, let first):
                driver.readHashes(id, space, blob, first: first)
            case .readChunk(let id, let space, let blob, let chunk): driver.readChunk(id, space, blob, chunk: chunk)
            case .readSmall(let id, let space, let blobs): driver.readSmall(id, space, blobs)
            case .recordHolder(let blob, let device): holders.record(blob, device)
            case .progress(let blob, let presentBytes):
                arrivals.progressed(blob, to: presentBytes)
                blobsChanged()
            case .nobodyHas(let blob): arrivals.failed(blob, .nobodyHas)
            case .report(let report): record(report)
            }
        }
    }

    private func dial(_ id: ConnectionID, _ endpoint: Endpoint) {
        guard let address = address(of: endpoint, dialling: id) else { return }
        willDial(id.rawValue)
        transport.dial(id.rawValue, address, .bulk)
    }

    /// The session's core may be in the middle of a step of its own.
    private func askLater(_ device: DeviceID) {
        let loop = NIOLoopBound(self, eventLoop: eventLoop)
        eventLoop.execute { loop.value.askForBulk(device) }
    }

    private func send(_ id: ConnectionID, _ frame: BulkFrame) {
        switch frame {
        case .chunk(let chunk): figures.bytesOut += UInt64(chunk.bytes.count)
        case .smallBlobs(let small): figures.bytesOut += small.blobs.reduce(0) { $0 + UInt64($1.bytes.count) }
        default: break
        }
        send(id) { () throws(WireError) in try BulkFrameCodec.encode(frame) }
    }

    private func record(_ report: BulkReport) {
        if case .refusedHere(let blob, let code) = report {
            arrivals.failed(blob, .refused(code: code))
            // One line for a disk that is full, not one for each blob.
            if code == lastRefusal { return journal.record(code: code) }
            lastRefusal = code
        }
        journal.record(report, logger: logger)
    }
}

// MARK: - Events of bulk connections

extension BulkLoop {
    func opened(
        _ connection: UInt64, _ protocol: ApplicationProtocol, direction: Direction, device: DeviceID, remote: HostPort
    ) {
        step(.opened(ConnectionID(rawValue: connection), device))
    }

    func received(_ connection: UInt64, payload: [UInt8]) {
        receive(connection, payload, as: BulkFrameCodec.decode) { id, frame in
            step(.received(id, frame, bytes: payload.count))
        }
    }

    func closed(_ connection: UInt64, reason: EndReason) { handleClosed(connection, reason: reason) }

    func dialFailed(_ connection: UInt64, reason: EndReason) { handleDialFailed(connection, reason: reason) }

    /// Does nothing: a connection that is turned away has no protocol yet.
    func turnedAway(_ remote: HostPort, device: DeviceID?, reason: EndReason) {}
}
