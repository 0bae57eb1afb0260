import SyncModel

// Devices that others let in: each is waited for by all before anything is forgotten, so an author's admissions are taken in at
// a rate. Changes beyond it wait like early ones; none is void. What another device's work builds on does not wait.
extension SpaceMachine {
    /// A segment that waits from now on: how many devices it would make members.
    mutating func recordAdmissions(_ verified: VerifiedSegment) {
        let segment = verified.segment
        guard segment.replica.device != configuration.own else { return }
        var devices: Set<DeviceID> = []
        segment.forEachAdmission { device in if membership[device] == nil { devices.insert(device) } }
        guard !devices.isEmpty else { return }
        // Of what was dropped from the room.
        replicas.admissions = replicas.admissions.filter { room.contains($0.key) }
        replicas.admissions[Dot(replica: segment.replica, counter: segment.start)] = devices.count
    }

    /// Returns the segments that may be taken out of the waiting room, in causal order.
    mutating func takeReady(_ step: CoreStep) -> [VerifiedSegment] {
        let returning = waitingForRewriting(step)
        guard !replicas.admissions.isEmpty else { return takeFromRoom { returning.contains($0.segment.replica) } }
        var admitting = replicas.admitting
        var isWaiting = false
        let (room, admissions) = (room, replicas.admissions)
        let batch = takeFromRoom { segment in
            let replica = segment.segment.replica
            let dot = Dot(replica: replica, counter: segment.segment.start)
            if returning.contains(replica) { return true }
            guard let count = admissions[dot] else { return false }
            guard
                admitting.mayTake(replica.device, at: step.now)
                    || room.isNamedByOthers(replica, beyond: segment.segment.start)
            else {
                isWaiting = true
                return true
            }
            admitting.take(replica.device, count: count, at: step.now)
            return false
        }
        replicas.admitting = admitting
        for segment in batch {
            replicas.admissions[Dot(replica: segment.segment.replica, counter: segment.segment.start)] = nil
        }
        if isWaiting { replicas.lookAt = step.now + configuration.timing.admissionEvery }
        return batch
    }

    private mutating func takeFromRoom(unless isHeldUp: (VerifiedSegment) -> Bool) -> [VerifiedSegment] {
        room.takeReady(
            held: held, byteBudget: persistBudgetBytes,
            ignoringContext: configuration.faults.contains(.skipWaitingRoom), unless: isHeldUp)
    }
}

extension Segment {
    /// The devices that its add-facts name.
    fileprivate func forEachAdmission(_ body: (DeviceID) -> Void) {
        var reader = ByteReader(bytes)
        while !reader.isAtEnd, let view = try? ChangeView(&reader) {
            view.forEachOperation(in: bytes) { counter, operation in
                guard operation.kind == Operation.Kind.addMember, view.mayAdmit(at: counter),
                    let fact = try? MemberFact(encoded: bytes, operation.body)
                else { return }
                body(fact.device)
            }
        }
    }
}
