import SyncModel

/// The schedule of asking the store what is missing, and the question under way.
///
/// The store lists in the order in which to fetch. Blobs in front that no connected peer holds would hide the rest. The
/// listing looks past them: first up to `BulkLimits.wants`, then by giving up those that were waited for longest.
struct BulkListing: Sendable {
    struct Question: Sendable {
        let id: ListID
        let limit: Int
        /// True if everything was asked for, not only what is not wanted yet.
        let isWhole: Bool
        /// Blobs that came, or were not wanted any more, while the store was looking: its answer may still name them.
        var ended: Set<BlobName> = []
    }

    var underWay: Question?
    /// True if something changed since the store was asked.
    var isStale = true
    /// The store had more than was asked for.
    var hasMore = false
    var lastAt: Tick?
    /// The time at which the peers' holdings of the blobs listed last are known.
    var answeredAt: Tick?
    /// The wants that no peer had at that time.
    var unheldCount = 0
    /// Wants that were given up since no peer had them, until something changes.
    var givenUp: Set<BlobName> = []

    /// The time at which given up wants are looked at again: a peer may have got one since without announcing it, as no
    /// device asks for it.
    func reviveAt(_ timing: BulkConfiguration.Timing) -> Tick? {
        givenUp.isEmpty ? nil : lastAt.map { $0 + timing.redialGreatest }
    }

    /// The number of wants that a peer has, or may turn out to have.
    func usefulCount(_ listedCount: Int) -> Int { listedCount - min(listedCount, unheldCount) }

    func deadline(_ configuration: BulkConfiguration, _ listedCount: Int) -> Tick? {
        guard underWay == nil else { return answeredAt }
        let again = isStale ? lastAt.map { $0 + configuration.timing.listPause } : nil
        return [again, answeredAt, isStale ? nil : reviveAt(configuration.timing)].compactMap(\.self).min()
    }
}

// What the policy wants, a piece of the list at a time.
extension BulkCore {
    mutating func handleMissingChanged() {
        listing.isStale = true
        if lookAgainAt == nil, links.contains(where: { !$0.serving.wanted.isEmpty }) {
            lookAgainAt = now + configuration.timing.holdingPause
        }
    }

    mutating func planList() {
        if let at = listing.answeredAt, now >= at {
            listing.answeredAt = nil
            listing.unheldCount = wants.values.reduce(0) { $0 + ($1.isListed && $1.holders.isEmpty ? 1 : 0) }
        }
        guard listing.underWay == nil else { return }
        if let at = listing.reviveAt(configuration.timing), now >= at { listing.isStale = true }
        let limit = configuration.bounds.wants
        let isLow = listing.usefulCount(listedCount) < limit / 2
        if listing.isStale {
            let pause = configuration.timing.listPause
            guard isLow && listing.lastAt != now || listing.lastAt.map({ now >= $0 + pause }) ?? true else { return }
            listing.givenUp = []
            ask(except: [], limit: limit, isWhole: true)
        } else if listing.hasMore, isLow, links.contains(where: { $0.state == .up }) {
            makeRoom()
            ask(except: wants.values.lazy.filter(\.isListed).map(\.want.blob) + listing.givenUp, limit: limit)
        }
    }

    private mutating func ask(except: [BlobName], limit: Int, isWhole: Bool = false) {
        let id = ListID(rawValue: nextID())
        listing.underWay = BulkListing.Question(id: id, limit: limit, isWhole: isWhole)
        listing.isStale = listing.isStale && !isWhole
        listing.lastAt = now
        effects.append(.listMissing(id, except: except.sorted(), limit: limit))
    }

    /// Gives up wants that no peer has, so that another list fits into what may be wanted at once.
    private mutating func makeRoom() {
        let most = BulkLimits.wants - 2 * configuration.bounds.wants
        guard listedCount > most else { return }
        let unheld = wants.values.filter {
            $0.isListed && !$0.isPersonal && $0.holders.isEmpty && $0.stage == .waiting
        }
        for want in unheld.map(\.rank).sorted().prefix(listedCount - most) {
            drop(want.blob)
            listing.givenUp.insert(want.blob)
        }
        // Its bytes are bounded, too; beyond, those in front have their turn again.
        if listing.givenUp.count > 4 * BulkLimits.wants { listing.givenUp = [] }
    }

    mutating func handleMissing(_ id: ListID, _ missing: [BlobWant]) {
        guard let question = listing.underWay, question.id == id else { return }
        listing.underWay = nil
        listing.hasMore = missing.count >= question.limit
        var isNew = false
        for want in missing where !question.ended.contains(want.blob) {
            if wants[want.blob] == nil {
                guard wants.count < BulkLimits.wants else {
                    listing.hasMore = true
                    break
                }
                add(want, isPersonal: false)
                isNew = true
            } else {
                recordListed(want)
            }
        }
        if isNew { listing.answeredAt = now + configuration.timing.answerWithin }
        guard question.isWhole, !listing.hasMore else { return }
        // These are all: what else the policy wanted is here, or not wanted any more.
        let named = Set(missing.map(\.blob))
        let gone = wants.values.filter { $0.isListed && !named.contains($0.want.blob) }
        for blob in gone.map(\.want.blob).sorted() { unlist(blob) }
    }

    private mutating func recordListed(_ want: BlobWant) {
        guard let known = wants[want.blob] else { return }
        if !known.isListed {
            wants[want.blob]?.isListed = true
            listedCount += 1
        }
        // A person may have wanted it before the store was asked.
        guard want.isBegun, !known.want.isBegun else { return }
        wants[want.blob]?.want = BlobWant(blob: want.blob, stamp: known.want.stamp, isBegun: true)
        enqueue(want.blob)
    }

    private mutating func unlist(_ blob: BlobName) {
        guard let want = wants[blob], want.isListed else { return }
        // The disk's answer is on its way: it came while the store was looking.
        switch want.stage {
        case .writing, .finishing: return
        case .waiting, .asked, .beginning, .lackingHashes, .askingHashes, .proving, .fetching: break
        }
        if want.isPersonal {
            wants[blob]?.isListed = false
            listedCount -= 1
        } else {
            drop(blob)
        }
    }
}
