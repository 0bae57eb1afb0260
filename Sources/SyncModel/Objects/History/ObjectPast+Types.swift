/// The author of the newest part of a value, and when it was written.
package struct PartWriter: Hashable, Sendable {
    package let replica: ReplicaID
    /// The time of the change by its author's clock. If the log no longer has the change, it is the time of the author's last
    /// change to the object.
    package let wallMilliseconds: Int64
}

extension ObjectPast {
    /// Returns the author of the newest part of what is held at a path in each of several types, in the order in which
    /// `ObjectReading.Conflict` has their values: the type that is shown first.
    ///
    /// A function of the state and of the changes' stamps and clocks, as `blame`.
    package func writersOfTypes(
        of state: ObjectState, at path: [ExactString], _ schema: CollectionSchema?
    ) -> [PartWriter] {
        let (values, preferred) = state.values(at: path, schema)
        let merged = MergedValue(values)
        guard let shown = merged.shown(preferring: preferred) else { return [] }
        let types = [shown.type] + merged.parts.map(\.type).filter { $0 != shown.type }
        let index = index
        func stamp(_ dot: Dot) -> Stamp { index.change(of: dot).change?.stamp ?? .zero }
        func isLater(_ one: Dot, _ other: Dot) -> Bool { (stamp(one), one) < (stamp(other), other) }
        return types.compactMap { type in
            var authorship = Authorship(isLater: isLater)
            authorship.add(values, preferring: type, at: path)
            let dots = authorship.parts.map(\.dot) + values.flatMap { $0.creations(as: type) }
            guard let last = dots.max(by: isLater) else { return nil }
            let touch = state.lives.lives.flatMap(\.touches).last { $0.replica == last.replica }
            let known = index.change(of: last).change?.wallMilliseconds
            return PartWriter(replica: last.replica, wallMilliseconds: known ?? touch?.stamp.milliseconds ?? 0)
        }
    }
}
