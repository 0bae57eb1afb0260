package import SyncModel

/// The effects that the shell must carry out, in order. No effect waits: one that needs an answer gets it as an `Input`, and
/// an effect that depends on durability is only emitted after `Input.persisted`.
package enum Effect: Sendable, Equatable {
    /// Commit the segments in one transaction, in this order; answer with `persisted` or `persistFailed`.
    case persist(PersistID, [VerifiedSegment])
    /// Read whole consecutive segments from `start` on, about `bytes`; answer with `segmentsRead`.
    case read(ReadID, ReplicaID, start: UInt64, bytes: Int)
    /// Look up the chain heads at these counters; answer with `headsRead`.
    case readHeads(ReadID, [VersionVector.Entry])

    /// Sign it, with the ends of our own history as they are under the store's write lock, and commit it; answer with
    /// `acknowledged` or `acknowledgeFailed`.
    case acknowledge(Acknowledgement)
    /// Keep the newest acknowledgements of other members. Nothing depends on it: peers have them too.
    case keep([SignedAcknowledgement])
    /// Forget deletions that are stable at this vector, of at most `limit` objects, in the order of their dots behind
    /// `after`, in one transaction; answer with `collected` or `collectFailed`.
    case collect(upTo: VersionVector, after: Dot?, limit: Int)
    /// Drop some of the changes that are stable at this vector and older than the retention, in one transaction: a pass is
    /// as many steps as the store needs. Answer with `compacted` or `compactFailed`.
    case compact(upTo: VersionVector)
    /// Write down which events the retention of their streams lets go, of those that are stable at this vector, in one
    /// transaction; it comes as `appended`. Answer with `droppedEvents`, also where nothing came of it.
    case dropEvents(stable: VersionVector)

    /// An effect about states that are taken from peers or handed to them.
    case state(StateEffect)

    /// Write down that this device is a member, as it was before it was cut; it comes as `appended`.
    case readmit(MemberFact)
    /// Write down that this device will not go back on its cut; it comes as `appended`.
    case settle(Dot)
    /// Write again, under a history that counts, what this device had written beyond the end of one that was cut: at most
    /// `limit` changes, in one transaction; answer with `rewritten` or `rewriteFailed`.
    case rewriteVoid(limit: Int)
    /// Commit statements of the recovery key that came apart from their histories; they come as `appended`.
    case takeStatements([PlacedStatement])
    /// An admin, or the recovery key, revoked this device and told it to delete what it holds of the space.
    case wipe(PlacedStatement)
    /// A device brought its receipt for a wipe. Nothing about it was checked yet.
    case takeWipeReceipt(WipeReceipt, from: DeviceID)
    /// A member of then has this device's receipt.
    case wipeReceiptTaken(by: DeviceID)

    /// A peer holds another history of this replica: take back what ours has beyond the last common change, and keep work of
    /// this device aside; answer with `takenBack`.
    case takeBack(OtherHistory)
    /// Redo reverted work: at most `limit` changes, in one transaction; answer with `redone` or `redoFailed`.
    case redoTakenBack(limit: Int)

    /// Local writes may stay open from now on, to be folded before they are shipped: no session is up.
    case leaveOpen
    /// A session is up: seal what is open, and every local write from now on; answer with `sealed` or `sealFailed`.
    case seal
    /// Our own key signed another history of this replica, or more of it, than this store holds: if it is the one that is
    /// written under, the next write begins a new incarnation.
    case closeIncarnation(ReplicaID)

    case dial(ConnectionID, Endpoint)
    case send(ConnectionID, Frame)
    /// The peer's `Hello` was accepted: its deadline and the small frame limit end.
    case establish(ConnectionID)
    /// Close the connection after what was sent is written. `closed` follows in every case.
    case close(ConnectionID, CloseReason)

    /// The devices that may connect, and those that may open a session only to be told why they may not. Sorted, our own left
    /// out.
    case trust([DeviceID], hearing: [DeviceID])
    case remember(Endpoint, DeviceID)

    /// A session is up with a device that knows bulk connections, or which of us dials has changed. `dial`: where it is
    /// reached, if we dialled the session; for `BulkInput.sessionUp`.
    case bulkPeerUp(DeviceID, dial: Endpoint?)
    /// The last such session with the device ended.
    case bulkPeerDown(DeviceID)
    /// The device asks us to dial a bulk connection.
    case bulkWanted(DeviceID)
    /// Show what is present with other members, sorted by device: all of it.
    case presence([PresenceRecord])
    /// Sign this device's next presence record under a run beyond this one: peers have one of a later run than the present.
    case renewPresence(beyond: UInt64)
    case report(Report)
}

/// Why the core ends a connection. Stable codes: they stand in logs, `why`, metrics and `Goodbye` frames.
package enum CloseReason: String, Sendable, Equatable, CaseIterable {
    case shutdown
    case redundant = "redundant_connection"
    case ownDevice = "own_device"
    case notMember = "not_paired"
    /// An admin revoked the device, or made the facts void that had admitted it.
    case revoked
    /// A person blocked the device on this node. The device itself is told no more than any stranger.
    case blocked
    case helloTimeout = "hello_timeout"
    case silent = "peer_silent"
    case protocolMismatch = "protocol_mismatch"
    case featureRequired = "feature_required"
    case duplicateIdentity = "duplicate_identity"
    case unexpectedFrame = "unexpected_frame"
    case malformedFrame = "malformed_frame"
    case badVector = "bad_vector"
    case badSegment = "bad_segment"
    case tooManyConnections = "too_many_connections"
    case peerRestarted = "peer_restarted"
    case suspected = "no_answer"
    /// We hold something else than we announced: we reverted a history.
    case historyChanged = "history_changed"
    /// This device has another name, which the next session says.
    case renamed
    /// This device listens at another port, which the next session says.
    case moved
    // Of bulk connections
    case idle
    case sessionEnded = "session_ended"
    /// The peer answered what was not asked, or more than that.
    case unsolicited
    case badChunk = "bad_chunk"
    /// More wants, or unread answers, than a connection may have.
    case overLimit = "over_limit"
    /// The peer sent a state that cannot be read or contradicts itself; the detail says why.
    case badState = "bad_state"
}

/// Reports for logs, metrics and `why`; never read back by the core.
package enum Report: Sendable, Equatable {
    case sessionUp(DeviceID, name: String, Endpoint, version: String)
    case sessionDown(DeviceID, code: String)
    case refused(DeviceID?, CloseReason, detail: String)
    case peerClock(DeviceID, wallMilliseconds: Int64)
    /// The peer shows another state of the same changes, or claims another history of what is held here and no changes by which to compare
    /// the two. At least once on a session; over with it.
    case diverged(DeviceID)
    case forked(ReplicaID, DeviceID)
    /// The author and we hold the same history again.
    case forkEnded(ReplicaID)
    /// Another history of the replica, shown by this device, replaced ours.
    case tookBack(ReplicaID, DeviceID)
    case duplicateIdentity(DeviceID)
    /// Changes of our own device that our store did not hold came from peers: it was put back, lost its end, or was copied.
    /// Once in a run.
    case ownChangesReturned
    case memberAdmitted(DeviceID)
    /// A member says that this device was revoked, by a statement that its author signed.
    case ownRevocation(PlacedStatement, said: DeviceID)
    /// The revocation that was told no longer holds.
    case ownRevocationEnded
    /// The device began more histories than are taken in; reported once in a run.
    case tooManyHistories(DeviceID)
    /// A member wrote that a device is revoked; that has no effect.
    case revocationIgnored(IgnoredRevocation)
    /// State of that device replaced changes, and is joined.
    case stateTaken(DeviceID)
    case storeRefused(code: String)
    case storeRecovered
}
