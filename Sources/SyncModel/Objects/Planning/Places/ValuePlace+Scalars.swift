extension ValuePlace {
    /// Writing what is shown writes nothing, unless something else was written apart.
    func assignRegister(_ target: JSONValue) {
        let isPlanted = draft.origin.faults.contains(.upsertWritesUnchanged)
        if isPlanted || !draft.value.isRegister(of: target) { draft.register.record(.set(target)) }
    }

    func assignConstant(_ target: JSONValue) throws(ObjectRefusal) {
        do throws(ConstantAlreadySet) {
            try draft.constant.set(target)
        } catch {
            throw .constant(field: field)
        }
    }

    func assignCounter(_ target: Int64) throws(ObjectRefusal) {
        let (difference, overflow) = target.subtractingReportingOverflow(draft.value.counter.value)
        guard !overflow else { throw .counterOverflow(field: field) }
        try increment(by: difference)
    }

    /// Increments the counter. An increment by 0 is written only to create a counter.
    func increment(by amount: Int64) throws(ObjectRefusal) {
        let counter = draft.value.counter
        if amount == 0, counter.isLive { return }
        guard !counter.value.addingReportingOverflow(amount).overflow, draft.counter.increment(by: amount) else {
            throw .counterOverflow(field: field)
        }
    }
}
