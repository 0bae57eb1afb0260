import SyncStore

/// A store that a newer program wrote: what a person must know to go on, forward or back.
package struct NewerStore: Hashable, Sendable {
    package let directory: String
    /// The version of the store's schema, and the newest one that this program knows.
    package let schema: Int
    package let known: Int
    /// The version of this program.
    package let version: String
    private let versions: StoreVersions

    init(in directory: String, schema: Int, known: Int, version: String) {
        self.directory = directory
        self.schema = schema
        self.known = known
        self.version = version
        versions = StoreVersions(in: directory, known: known)
    }

    var message: String {
        let writer = versions.program.map { "lanyardd \($0)" } ?? "a newer lanyardd"
        return "the store in \(directory) was written by \(writer) (schema \(schema)); this is lanyardd \(version), "
            + "which knows schemas up to \(known); nothing was changed"
    }

    var hint: String {
        let forward = "install " + (versions.program.map { "lanyardd \($0) or a newer one" } ?? "the newer lanyardd")
        guard let kept = versions.kept else { return forward }
        return forward + "; or go back to the store from before the upgrade, which is \(kept): "
            + "deploy/README.md, Upgrading, says how, and what is lost"
    }
}
