package import SyncModel

/// One pairing by typed codes, from `lanyard pair` to its end: which devices pair at the same time, which one is chosen, and the
/// exchange with it. The command and the dashboard drive the same machine.
///
/// `looking` → `committed` or `answered` → `comparing` → `ended`. An exchange that breaks before its codes are shown leads back
/// to `looking`. A link carries at most one exchange.
///
/// Bounds: `Rules.lifetime` in all, `Rules.tries` exchanges in which this side's nonce left, one exchange at a time, one code typed
/// an exchange. The limit of tries counts: a relay may break exchanges off unseen until one suits it.
package struct PairingMachine: Sendable {
    package struct Rules: Sendable {
        package var lifetime: Tick.Span = .seconds(120)
        package var tries = 3
        /// The time in which further devices may appear before the only one is chosen.
        package var settling: Tick.Span = .seconds(1)
        /// The time in which the committer opens its nonce after the answer.
        package var opening: Tick.Span = .seconds(5)
        /// The time from the second code on in which both devices write the member down.
        package var admission: Tick.Span = .seconds(15)
        /// Links to devices that may be chosen. As many more are kept for the device that the person named.
        package var links = 16
        package var linksPerDevice = 2

        package init() {}
    }

    /// The device that the person named, if any.
    package enum Wish: Hashable, Sendable {
        case any
        /// A name, or the beginning of an id (at least four digits).
        case named(String)
        case atNamedAddress
    }

    package enum Input: Hashable, Sendable {
        /// A link is up and its offer came. The nonce is 32 fresh random bytes for the link's exchange.
        ///
        /// - Parameter isAtNamedAddress: the link leads to the address that the person named.
        case offered(ConnectionID, PairingCandidate, nonce: [UInt8], isAtNamedAddress: Bool)
        case received(ConnectionID, PairingMessage)
        case closed(ConnectionID)
        /// The person chose one of the candidates.
        case chose(DeviceID)
        /// The person typed six digits.
        case typed(String)
        /// The answer to `Effect.admit`.
        case admitted(isDone: Bool)
        case cancelled
        /// Time passed.
        case tick
    }

    package enum Effect: Hashable, Sendable {
        case send(ConnectionID, PairingMessage)
        /// Close the link after what was sent is written.
        case close(ConnectionID)
        /// Show this device's code, and ask for the other's.
        case show(code: String, PairingCandidate)
        /// The typed code is right; the other device's answer is missing.
        case confirmed
        /// Make the device a member, durably; answer with `admitted`.
        ///
        /// - Parameter isHost: this device joins through the other one.
        case admit(ConnectionID, PairingCandidate, isHost: Bool)
        /// The pairing is over; the last effect.
        case ended(PairingOutcome)
    }

    private struct Link: Sendable {
        let candidate: PairingCandidate
        let nonce: [UInt8]
        /// The commitment that the peer sent, if it is the committer.
        var commitment: [UInt8]?
    }

    private struct Exchange: Sendable {
        let link: ConnectionID
        let candidate: PairingCandidate
        let nonce: [UInt8]
        let transcript: PairingTranscript
        let isCommitter: Bool
    }

    private struct Comparison: Sendable {
        let exchange: Exchange
        /// The code of the other screen.
        let expected: String
        var isTyped = false
        var isConfirmedThere = false
        var isAdmissionAsked = false
        var isAdmittedHere = false
        var isAdmittedThere = false
        /// Set if the link broke, or one side ended the exchange, while the member was being written down.
        var end: PairingOutcome?

        /// True from the request to the store to its answer: nothing else ends the pairing meanwhile.
        var isBeingAdmitted: Bool { isAdmissionAsked && !isAdmittedHere }
    }

    private enum Stage: Sendable {
        case looking
        /// This side committed, and waits for the peer to choose it.
        case committed(Exchange)
        /// This side's nonce left; the committer's opening is missing.
        case answered(Exchange)
        case comparing(Comparison)
        case ended
    }

    private let own: PairingTranscript.Side
    private let device: DeviceID
    private let memberCount: UInt64
    private let wish: Wish
    private let rules: Rules
    private var deadline: Tick
    private var stage = Stage.looking
    private var links: [ConnectionID: Link] = [:]
    private var chosen: DeviceID?
    private var isChosenByPerson = false
    /// The time at which the only candidate is chosen by itself; nil before the first candidate, and from then on.
    private var choiceAt: Tick?
    /// True from `choiceAt` on: a candidate is chosen as soon as it is the only one.
    private var isSettled = false
    /// The devices that were met at the address that the person named.
    private var atNamedAddress: Set<DeviceID> = []
    /// Devices that left an exchange unopened: they are not chosen by themselves again.
    private var silent: Set<DeviceID> = []
    /// The time until which the committer may open; while `answered`.
    private var openingDeadline: Tick?
    private var triesLeft: Int
    private var effects: [Effect] = []

    package init(
        own: PairingTranscript.Side, memberCount: UInt64, wish: Wish = .any, rules: Rules = Rules(), now: Tick
    ) {
        self.own = own
        device = DeviceID(subjectPublicKeyInfo: own.subjectPublicKeyInfo)
        self.memberCount = memberCount
        self.wish = wish
        self.rules = rules
        deadline = now + rules.lifetime
        triesLeft = rules.tries
    }

    /// True while a code is shown and the other one was not typed yet.
    package var isAsking: Bool {
        if case .comparing(let comparison) = stage { !comparison.isTyped } else { false }
    }

    package var isEnded: Bool {
        if case .ended = stage { true } else { false }
    }

    /// The devices to choose from, sorted by name and id.
    package var candidates: [PairingCandidate] {
        var seen: Set<DeviceID> = []
        let sorted = links.sorted { $0.key < $1.key }.map(\.value.candidate)
        return sorted.filter { seen.insert($0.device).inserted }
            .sorted { ($0.name, $0.device) < ($1.name, $1.device) }
    }

    /// True if devices pair right now and the person has to choose one of them.
    package var needsChoice: Bool {
        guard case .looking = stage, chosen == nil else { return false }
        return isSettled && !links.isEmpty
    }

    /// True if the device was met at the address that the person named.
    package func isAtNamedAddress(_ device: DeviceID) -> Bool { atNamedAddress.contains(device) }

    /// The time at which `tick` is due; later than that of the last step.
    package var nextDeadline: Tick? {
        switch stage {
        case .looking: chosen == nil ? min(choiceAt ?? deadline, deadline) : deadline
        case .committed: deadline
        case .answered: min(openingDeadline ?? deadline, deadline)
        case .comparing(let comparison): comparison.isBeingAdmitted ? nil : deadline
        case .ended: nil
        }
    }

    /// Takes an input and returns the effects, in order. After `ended` it returns none.
    package mutating func step(_ input: Input, at now: Tick) -> [Effect] {
        effects = []
        if isEnded { return [] }
        switch input {
        case .offered(let id, let candidate, let nonce, let isAtNamedAddress):
            if isAtNamedAddress { atNamedAddress.insert(candidate.device) }
            handleOffer(id, candidate, nonce, at: now)
        case .received(let id, let message): handle(message, on: id, at: now)
        case .closed(let id): handleClosed(id, at: now)
        case .chose(let device): choose(device, at: now)
        case .typed(let code): handleTyped(code, at: now)
        case .admitted(let isDone): handleAdmitted(isDone)
        case .cancelled: handleCancelled()
        case .tick: break
        }
        handleTime(now)
        return effects
    }
}

// MARK: - Looking

extension PairingMachine {
    private mutating func handleOffer(
        _ id: ConnectionID, _ candidate: PairingCandidate, _ nonce: [UInt8], at now: Tick
    ) {
        precondition(nonce.count == PairingTranscript.nonceByteCount, "a nonce has 32 bytes")
        let open = links.filter { $0.value.candidate.device == candidate.device }.keys.sorted()
        let limit = isWished(candidate) && wish != .any ? 2 * rules.links : rules.links
        guard candidate.device != device, links.count < limit, open.count < rules.linksPerDevice else {
            return effects.append(.close(id))
        }
        if device < candidate.device, let older = open.first {
            // The committer keeps one link with each device, the newer one: the older may be dead without a word. The
            // answerer takes the one on which the commitment comes.
            guard exchangeLink != older else { return effects.append(.close(id)) }
            links[older] = nil
            effects.append(.close(older))
        }
        links[id] = Link(candidate: candidate, nonce: nonce)
        if choiceAt == nil, !isSettled { choiceAt = now + rules.settling }
        begin(at: now)
    }

    private mutating func handleClosed(_ id: ConnectionID, at now: Tick) {
        guard let link = links.removeValue(forKey: id) else { return }
        switch stage {
        case .committed(let exchange) where exchange.link == id: stage = .looking
        case .answered(let exchange) where exchange.link == id: breakOff()
        case .comparing(var comparison) where comparison.exchange.link == id:
            let peer = comparison.exchange.candidate
            comparison.end = comparison.end ?? .halfPaired(peer)
            stage = .comparing(comparison)
            if !comparison.isBeingAdmitted {
                end(comparison.isAdmittedHere ? .halfPaired(peer) : .connectionLost(peer))
            }
        case .looking, .committed, .answered, .comparing, .ended: break
        }
        forgetChoice(of: link.candidate.device, at: now)
        begin(at: now)
    }

    /// A device chosen by itself that went away is no choice any more.
    private mutating func forgetChoice(of device: DeviceID, at now: Tick) {
        guard chosen == device, !isChosenByPerson, !links.values.contains(where: { $0.candidate.device == device })
        else { return }
        chosen = nil
        isSettled = false
        choiceAt = now + rules.settling
    }

    private mutating func choose(_ device: DeviceID, at now: Tick) {
        switch stage {
        case .looking: break
        case .committed(let exchange), .answered(let exchange):
            if exchange.candidate.device == device {
                isChosenByPerson = true
                return
            }
            effects += [.send(exchange.link, .ended(.choseAnother)), .close(exchange.link)]
            links[exchange.link] = nil
            if case .answered = stage { breakOff() } else { stage = .looking }
            guard !isEnded else { return }
        case .comparing, .ended: return
        }
        chosen = device
        isChosenByPerson = true
        begin(at: now)
    }

    private mutating func handleCancelled() {
        guard case .comparing(var comparison) = stage, comparison.isAdmissionAsked else {
            return end(.cancelled, saying: .cancelled)
        }
        comparison.end = .halfPaired(comparison.exchange.candidate)
        stage = .comparing(comparison)
        if comparison.isAdmittedHere { end(.halfPaired(comparison.exchange.candidate), saying: .cancelled) }
    }

    private mutating func handleTime(_ now: Tick) {
        switch stage {
        case .ended: return
        case .comparing(let comparison) where comparison.isBeingAdmitted: return
        case .comparing(let comparison) where deadline <= now && comparison.isAdmittedHere:
            return end(.halfPaired(comparison.exchange.candidate), saying: .timedOut)
        case .looking, .committed, .answered, .comparing:
            if deadline <= now { return end(.timedOut, saying: .timedOut) }
        }
        if case .answered(let exchange) = stage, let openingDeadline, openingDeadline <= now {
            silent.insert(exchange.candidate.device)
            drop(exchange.link, at: now)
        }
        if let choiceAt, choiceAt <= now {
            isSettled = true
            self.choiceAt = nil
        }
        guard case .looking = stage, chosen == nil, isSettled else { return }
        let eligible = candidates.filter { isWished($0) && !silent.contains($0.device) }
        guard eligible.count == 1 else { return }
        chosen = eligible[0].device
        begin(at: now)
    }

    private func isWished(_ candidate: PairingCandidate) -> Bool {
        switch wish {
        case .any: true
        case .atNamedAddress: atNamedAddress.contains(candidate.device)
        case .named(let word): candidate.name == word || candidate.device.hasPrefix(word)
        }
    }
}

// MARK: - The exchange

extension PairingMachine {
    /// Begins the exchange with the chosen device, as far as this side can.
    private mutating func begin(at now: Tick) {
        guard case .looking = stage, let chosen else { return }
        let open = links.filter { $0.value.candidate.device == chosen }.sorted { $0.key < $1.key }
        if device < chosen {
            guard let (id, link) = open.first.map({ ($0.key, $0.value) }) else { return }
            let exchange = exchange(id, link)
            effects.append(.send(id, .commitment(exchange.transcript.commitment(to: link.nonce))))
            stage = .committed(exchange)
        } else {
            guard let (id, link) = open.first(where: { $0.value.commitment != nil }).map({ ($0.key, $0.value) })
            else { return }
            triesLeft -= 1
            effects.append(.send(id, .answer(link.nonce)))
            stage = .answered(exchange(id, link))
            openingDeadline = now + rules.opening
        }
    }

    private func exchange(_ id: ConnectionID, _ link: Link) -> Exchange {
        Exchange(
            link: id, candidate: link.candidate, nonce: link.nonce,
            transcript: PairingTranscript(own, link.candidate.side), isCommitter: device < link.candidate.device)
    }

    private mutating func handle(_ message: PairingMessage, on id: ConnectionID, at now: Tick) {
        guard links[id] != nil else { return }
        switch (message, stage) {
        case (.commitment(let commitment), _) where canCommit(id):
            links[id]?.commitment = commitment
            begin(at: now)
        case (.answer(let nonce), .committed(let exchange)) where exchange.link == id:
            triesLeft -= 1
            effects.append(.send(id, .opening(exchange.nonce)))
            compare(exchange, committerNonce: exchange.nonce, answererNonce: nonce)
        case (.opening(let nonce), .answered(let exchange)) where exchange.link == id:
            guard exchange.transcript.commitment(to: nonce) == links[id]?.commitment else { return drop(id, at: now) }
            compare(exchange, committerNonce: nonce, answererNonce: exchange.nonce)
        case (.confirmed, .comparing(var comparison)) where comparison.exchange.link == id:
            comparison.isConfirmedThere = true
            stage = .comparing(comparison)
            admitIfConfirmed(at: now)
        case (.admitted, .comparing(var comparison))
        where comparison.exchange.link == id && comparison.isAdmissionAsked:
            comparison.isAdmittedThere = true
            stage = .comparing(comparison)
            endIfAdmitted()
        case (.ended(let reason), .comparing(let comparison)) where comparison.exchange.link == id:
            handleEnded(reason, comparison)
        case (_, _): drop(id, at: now)
        }
    }

    /// The committer sends one commitment, before anything else.
    private func canCommit(_ id: ConnectionID) -> Bool {
        guard let link = links[id] else { return false }
        return link.candidate.device < device && link.commitment == nil
    }

    /// Closes a link whose peer spoke out of turn or left.
    private mutating func drop(_ id: ConnectionID, at now: Tick) {
        effects.append(.close(id))
        handleClosed(id, at: now)
    }

    /// An exchange broke after this side's nonce had left: the peer could have known the code before this screen.
    private mutating func breakOff() {
        stage = .looking
        if triesLeft <= 0 { end(.tooManyTries) }
    }

    private mutating func compare(_ exchange: Exchange, committerNonce: [UInt8], answererNonce: [UInt8]) {
        let codes = exchange.transcript.codes(committerNonce: committerNonce, answererNonce: answererNonce)
        let (ours, theirs) =
            exchange.isCommitter ? (codes.committer, codes.answerer) : (codes.answerer, codes.committer)
        stage = .comparing(Comparison(exchange: exchange, expected: theirs))
        effects.append(.show(code: ours, exchange.candidate))
    }

    private mutating func handleTyped(_ code: String, at now: Tick) {
        guard case .comparing(var comparison) = stage, !comparison.isTyped else { return }
        guard code == comparison.expected else {
            return end(.wrongCode(comparison.exchange.candidate), saying: .wrongCode)
        }
        comparison.isTyped = true
        stage = .comparing(comparison)
        effects += [.confirmed, .send(comparison.exchange.link, .confirmed)]
        admitIfConfirmed(at: now)
    }

    private mutating func admitIfConfirmed(at now: Tick) {
        guard case .comparing(var comparison) = stage, comparison.isTyped, comparison.isConfirmedThere,
            !comparison.isAdmissionAsked
        else { return }
        comparison.isAdmissionAsked = true
        let peer = comparison.exchange.candidate
        stage = .comparing(comparison)
        deadline = now + rules.admission
        // The device of the smaller space joins the larger one; between equals the committer joins.
        let isHost = memberCount == peer.memberCount ? device < peer.device : memberCount < peer.memberCount
        effects.append(.admit(comparison.exchange.link, peer, isHost: isHost))
    }

    private mutating func handleAdmitted(_ isDone: Bool) {
        guard case .comparing(var comparison) = stage, comparison.isAdmissionAsked, !comparison.isAdmittedHere
        else { return }
        guard isDone else { return end(.notAdmitted(comparison.exchange.candidate), saying: .notAdmitted) }
        comparison.isAdmittedHere = true
        stage = .comparing(comparison)
        if comparison.isAdmittedThere { return end(.paired(comparison.exchange.candidate), sending: .admitted) }
        if let outcome = comparison.end { return end(outcome, saying: .cancelled) }
        effects.append(.send(comparison.exchange.link, .admitted))
    }

    private mutating func endIfAdmitted() {
        guard case .comparing(let comparison) = stage, comparison.isAdmittedHere, comparison.isAdmittedThere
        else { return }
        end(.paired(comparison.exchange.candidate))
    }

    /// The peer ended the exchange while the codes were compared. What was asked of the store goes on.
    private mutating func handleEnded(_ reason: PairingEnd, _ comparison: Comparison) {
        let peer = comparison.exchange.candidate
        guard comparison.isAdmissionAsked else { return end(.endedThere(peer, reason)) }
        let outcome = reason == .notAdmitted ? PairingOutcome.endedThere(peer, reason) : .halfPaired(peer)
        guard comparison.isBeingAdmitted else { return end(outcome) }
        var waiting = comparison
        waiting.end = outcome
        stage = .comparing(waiting)
    }

    /// Ends the pairing: tells the peer of the exchange, and closes all links.
    private mutating func end(_ outcome: PairingOutcome, saying reason: PairingEnd? = nil) {
        end(outcome, sending: reason.map { .ended($0) })
    }

    private mutating func end(_ outcome: PairingOutcome, sending last: PairingMessage?) {
        if let last, let link = exchangeLink, links[link] != nil { effects.append(.send(link, last)) }
        effects += links.keys.sorted().map { .close($0) }
        links = [:]
        stage = .ended
        effects.append(.ended(outcome))
    }

    private var exchangeLink: ConnectionID? {
        switch stage {
        case .looking, .ended: nil
        case .committed(let exchange), .answered(let exchange): exchange.link
        case .comparing(let comparison): comparison.exchange.link
        }
    }
}

extension DeviceID {
    /// True if the text form begins with these digits; case and hyphens do not matter. Fewer than four are no beginning.
    fileprivate func hasPrefix(_ word: String) -> Bool {
        let digits = word.uppercased().filter { $0 != "-" }
        return digits.count >= 4 && description.filter { $0 != "-" }.hasPrefix(digits)
    }
}
