import SyncModel

/// Member → newest signed acknowledgement, sorted by device, with the digest over it kept up to date.
///
/// Bounds: two acknowledgements for each member.
struct AcknowledgementTable: Sendable {
    struct Row: Sendable {
        fileprivate(set) var newest: SignedAcknowledgement
        fileprivate(set) var mark: AcknowledgementMark
        fileprivate var term: Sum256
        /// The one before it: peers that have that are sent what moved.
        fileprivate(set) var previous: (signed: SignedAcknowledgement, mark: AcknowledgementMark)?
        /// The vector of the newest acknowledgement that counts here; nil while none does.
        fileprivate(set) var counted: VersionVector?
        fileprivate(set) var check: Check

        var device: DeviceID { newest.device }

        fileprivate init(_ signed: SignedAcknowledgement) {
            newest = signed
            mark = signed.mark
            term = signed.digestTerm
            check = .waiting(for: nil)
        }
    }

    /// The state of the newest acknowledgement: `waiting` → (`reading` →) `counted` or `refuted`.
    enum Check: Sendable, Equatable {
        /// Waits for its author's changes, or others it covers; nil: it has not been looked at yet.
        case waiting(for: VersionVector.Entry?)
        /// Waits for heads that the store looks up; `sum` is the digest without them.
        case reading(ReadID, [VersionVector.Entry], sum: Sum256)
        case counted
        /// The acknowledgement covers other histories than those held: it will never count.
        case refuted
    }

    private(set) var rows: [Row] = []
    private(set) var digest = Sum256.zero

    subscript(device: DeviceID) -> Row? { position(of: device).map { rows[$0] } }

    /// Takes one whose signature was checked.
    /// - Returns: whether it is newer than what was here.
    mutating func take(_ signed: SignedAcknowledgement) -> Bool {
        guard let index = position(of: signed.device) else {
            let row = Row(signed)
            rows.insert(row, at: rows.firstIndex { signed.device < $0.device } ?? rows.count)
            digest += row.term
            return true
        }
        let old = rows[index]
        guard signed.acknowledgement.isNewer(than: old.newest.acknowledgement) else { return false }
        var row = Row(signed)
        row.previous = (old.newest, old.mark)
        // A member that says less than before was put back to an earlier state: its word of then is void.
        row.counted = old.counted.flatMap { signed.acknowledgement.vector.covers($0) ? $0 : nil }
        digest -= old.term
        digest += row.term
        rows[index] = row
        return true
    }

    mutating func record(_ check: Check, of device: DeviceID) {
        guard let index = position(of: device) else { return }
        rows[index].check = check
        if check == .counted { rows[index].counted = rows[index].newest.acknowledgement.vector }
    }

    /// Returns the row that a reading of heads was for; nil if a newer acknowledgement has come meanwhile.
    func reading(_ id: ReadID) -> (device: DeviceID, entries: [VersionVector.Entry], sum: Sum256)? {
        for row in rows {
            if case .reading(id, let entries, let sum) = row.check { return (row.device, entries, sum) }
        }
        return nil
    }

    private func position(of device: DeviceID) -> Int? {
        var (low, high) = (0, rows.count)
        while low < high {
            let middle = (low + high) / 2
            if rows[middle].device < device { low = middle + 1 } else { high = middle }
        }
        return low < rows.count && rows[low].device == device ? low : nil
    }
}
