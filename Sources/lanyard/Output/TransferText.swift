import ControlAPI

/// The running transfers, for people.
enum TransferText {
    private static let shownTransfers = 4

    /// Returns a line for each of the largest, and one for the others.
    static func lines(_ transfers: [StatusResponse.Transfer]) -> [String] {
        let sorted = transfers.sorted { left, right in
            (left.progress.totalBytes, right.hash) > (right.progress.totalBytes, left.hash)
        }
        let lines = sorted.prefix(shownTransfers).map { transfer in
            let name = transfer.name.flatMap { $0.isEmpty ? nil : $0 } ?? String(transfer.hash.prefix(12))
            return ProgressText.text(shown(name), transfer.progress)
        }
        let others = sorted.count - lines.count
        return others > 0 ? lines + ["and \(Amounts.count(others, "other"))"] : lines
    }
}
