import SyncModel

// Schemas and settings of streams where the sender's replace those that may be wrong here.
extension StateJoin {
    /// Each schema is the sender's, with the edits that count and that it has not seen.
    mutating func replaceSchemas() throws(StoreError) {
        var replaced: [ExactString: CollectionSchema] = [:]
        for collection in try objects.collections() where collection.schema != nil {
            replaced[collection.name] = CollectionSchema()
        }
        for schema in schemas {
            replaced[schema.collection, default: CollectionSchema()]
                .join(schema.entries, held: VersionVector(), theirs: theirs)
        }
        try forEachSettingBeyond { operation, origin in
            guard case .editSchema(let edit) = operation else { return }
            replaced[edit.collection, default: CollectionSchema()].apply(edit, at: origin)
        }
        let schemas = replaced.sorted { $0.key < $1.key }
        try write { [objects] plan throws(StoreError) in
            for (name, schema) in schemas { try plan.replace(schema, of: name, objects) }
        }
    }

    /// Likewise the settings of streams.
    mutating func replaceSettings() throws(StoreError) {
        var plan = try LogPlan([], on: state)
        for stream in state.streams.keys { plan.after.replace(nil, of: stream) }
        for setting in settings { plan.after.keep(setting) }
        try forEachSettingBeyond { operation, origin in
            guard case .setStream(let setting) = operation else { return }
            plan.after.keep(KeptStream(setting, at: CanonicalKey(stamp: origin.stamp, dot: origin.dot)))
        }
        let streams = try plan.applyStreams(on: state, StreamRows(rows))
        _ = try rows.write(plan)
        try StreamRows(rows).write(streams)
        self.streams.formUnion(streams.settings.map { Name.Bytes($0.setting.stream.string) })
        state = plan.after
    }

    private func forEachSettingBeyond(_ body: (SyncModel.Operation, Origin) -> Void) throws(StoreError) {
        let (theirs, held) = (theirs, held)
        try rows.forEachSetting(
            of: state.cuts, firsts,
            within: { theirs.next(of: $0)..<max(theirs.next(of: $0), held.next(of: $0)) }, body)
    }
}
