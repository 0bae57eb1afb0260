/// Planted bugs in what statements and add-facts come to. The shipped value is empty.
package struct TrustFaults: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Statements on the role of the own device are passed over: the agent of a thief goes on as if there were none.
    package static let ignoreOwnStatements = TrustFaults(rawValue: 1 << 0)
    /// Add-facts count beyond the ends of their authors' histories.
    package static let countVoidAdditions = TrustFaults(rawValue: 1 << 1)
    /// The word of a device on an elder one has no effect: the founder is the eldest, and of two others that with the lesser id.
    package static let elderWins = TrustFaults(rawValue: 1 << 2)
}

/// The planted bugs of one table.
struct PlantedTrust: Hashable, Sendable {
    var faults: TrustFaults = []
    /// The device on which the table is.
    var own: DeviceID?

    /// Returns the statements that are judged.
    func table(_ table: TrustTable) -> TrustTable {
        guard faults.contains(.ignoreOwnStatements), let own else { return table }
        return table.keeping { $0.statement.device != own }
    }
}
