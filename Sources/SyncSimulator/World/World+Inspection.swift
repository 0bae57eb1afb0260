import SyncCore
import SyncModel
import SyncStore

// Looking at what nodes hold, while nothing moves.
extension World {
    /// Inspects one node that is up.
    mutating func inspect() {
        let up = nodes.indices.filter { nodes[$0].store != nil && !isOutlaw($0) }
        guard isFaulty, !up.isEmpty else { return }
        inspect(up[objectWork.number(0..<up.count)], isThorough: true)
    }

    /// Compares the nodes. Open changes count as held: they show, though other nodes do not know of them.
    mutating func compareNodes() {
        let up = nodes.filter { !isOutlaw($0.number) && !mayMix($0.number) }.compactMap { node in
            node.store.flatMap { store in
                // A node that reports possibly wrong objects is left out; at rest no node may report that.
                (try? store.logState()).flatMap { state -> ComparedNode? in
                    if state.isIncomplete, restedAt == nil { return nil }
                    let holds = VersionVector(state.tips)
                    return ComparedNode(
                        number: node.number, store: store, holds: holds, heads: state.tips.map(\.tip.head),
                        trust: state.cuts.trust, digest: state.digest)
                }
            }
        }
        let readmitted = readmittedLate
        check { $0.compared(up, apartFrom: readmitted) }
    }

    /// True if what the node shows may not be what its log says: it took a state after a machine was put back while it ran, or there are
    /// two histories of a replica still, of which others' work may speak.
    private func mayMix(_ node: Int) -> Bool {
        guard isMixing else { return false }
        return nodes[node].mayMix || nodes.contains { !($0.core?.forkedReplicas.isEmpty ?? true) }
    }

    /// A copy of the disk is looked at, opened as after a crash: so what was still open is signed, and in the log.
    mutating func inspect(_ node: Int, isThorough: Bool) {
        guard failure == nil, !isOutlaw(node), let store = nodes[node].store else { return }
        do throws(StoreError) {
            // The node reports possibly wrong objects; at rest no node may report that.
            if try store.logState().isIncomplete, restedAt == nil { return }
            let copy = isThorough ? try copy(of: node) : store
            let digest = try store.logState().digest
            // What its log says is not what it has to show.
            let mayMix = mayMix(node)
            let past = mayMix ? nil : changes
            let ledger = isThorough && !mayMix ? try ObjectLedger(copy, past: past) : nil
            let inspection = Inspection(
                node: node, store: copy, digest: digest, isThorough: isThorough, isLast: restedAt != nil,
                ledger: ledger, past: past,
                hasTakenState: nodes[node].hasTakenState, mayMix: mayMix,
                leftOpen: past == nil ? OpenObjects() : ledger?.leftOpen(by: forgettings) ?? OpenObjects(),
                readmitted: readmittedLate)
            check { $0.inspected(inspection) }
        } catch {
            fail("inspection", "node \(node) cannot be read: \(error)")
        }
    }

    private func copy(of node: Int) throws(StoreError) -> SQLiteStore {
        try nodes[node].disk.copy().open(nodes[node].device, faults: bug?.store ?? [], incarnations: { 0 })
    }

    /// Before anything else happens to the disk.
    mutating func checkWritten(_ node: Int, _ writes: [LocalWrite], _ result: AppendResult) {
        guard !isOutlaw(node), !mayMix(node) else { return }
        let world = self
        check { $0.written(node: node, writes, result) { try? world.copy(of: node) } }
    }
}
