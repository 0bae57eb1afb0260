package import ControlAPI
package import SyncAgent

/// What stands here until the store keeps objects: each call is refused with a code and a sentence.
extension Agent {
    private var unavailable: ControlError {
        ControlError(
            .internalFault, "This agent does not keep objects.", hint: "Run an agent of a version that does.")
    }

    package func put(space: String, _ put: ObjectPut) async throws(ControlError) -> ObjectEntry { throw unavailable }

    package func put(space: String, all puts: [ObjectPut]) async throws(ControlError) -> EmitResponse {
        throw unavailable
    }

    package func edit(space: String, _ edit: ObjectEdit) async throws(ControlError) -> ObjectEntry {
        throw unavailable
    }

    package func delete(space: String, _ name: ObjectName, ifVersion: DotText?) async throws(ControlError) -> Bool {
        throw unavailable
    }

    package func perform(_ transaction: Transaction) async throws(ControlError) -> TransactionResponse {
        throw unavailable
    }

    package func object(space: String, _ name: ObjectName) async throws(ControlError) -> ObjectEntry {
        throw unavailable
    }

    package func object(
        space: String, _ name: ObjectName, at version: DotText
    ) async throws(ControlError) -> ObjectEntry { throw unavailable }

    package func objects(_ query: ObjectQuery) async throws(ControlError) -> EntryPage<ObjectEntry> {
        throw unavailable
    }

    package func deletedObjects(_ query: DeletedQuery) async throws(ControlError) -> EntryPage<DeletedEntry> {
        throw unavailable
    }

    package func history(_ query: HistoryQuery) async throws(ControlError) -> EntryPage<HistoryEntry> {
        throw unavailable
    }

    package func objectPosition(space: String) async throws(ControlError) -> UInt64 { throw unavailable }

    package func nextObjectChanges(_ query: WatchQuery) async throws(ControlError) -> [ObjectChange] {
        throw unavailable
    }

    package func conflicts(space: String, collection: String?) async throws(ControlError) -> [ConflictEntry] {
        throw unavailable
    }

    package func nextConflicts(
        space: String, collection: String?, differingFrom known: [ConflictEntry]
    ) async throws(ControlError) -> [ConflictEntry] { throw unavailable }

    package func resolve(
        space: String, _ name: ObjectName, _ resolution: Resolution
    ) async throws(ControlError) -> Bool { throw unavailable }

    package func schemas(space: String) async throws(ControlError) -> [SchemaEntry] { throw unavailable }

    package func schema(space: String, collection: String) async throws(ControlError) -> SchemaEntry {
        throw unavailable
    }

    package func setSchema(space: String, _ schema: SchemaEntry) async throws(ControlError) -> SchemaEntry {
        throw unavailable
    }

    package func setStream(
        space: String, stream: String, settings: StreamSettings
    ) async throws(ControlError) -> StreamEntry { throw unavailable }
}
