/// A revocation that a change says and that has no effect (`CutFact.hasEffect`): people are told of it.
package struct IgnoredRevocation: Hashable, Sendable {
    package let author: DeviceID
    /// The device that its author revoked.
    package let device: DeviceID

    package init(author: DeviceID, device: DeviceID) {
        self.author = author
        self.device = device
    }

    /// The first of each author: its others say nothing more.
    package static func amongst(_ statements: some Sequence<(dot: Dot, says: CutStatement)>) -> [IgnoredRevocation] {
        var ignored: [IgnoredRevocation] = []
        for (dot, says) in statements {
            guard case .cut(let fact) = says, !fact.hasEffect else { continue }
            let author = dot.replica.device
            guard !ignored.contains(where: { $0.author == author }) else { continue }
            ignored.append(IgnoredRevocation(author: author, device: fact.device))
        }
        return ignored
    }
}
