extension Histories.World {
    /// A number by content, the same in every order of moves that leads to this.
    func key(of change: Histories.Change) -> Int {
        let operation =
            switch change.operation {
            case .write: 0
            case .edit(let target): changeKeys[target]
            case .delete: 1
            }
        return hash([replicaKey(change.replica), sum(change.seen, changeKeys), change.object, operation])
    }

    func key(of fact: Histories.Fact) -> Int {
        let content: [Int] =
            switch fact.kind {
            case .add(let device): [0, device]
            case .fork(let replica, let common): [1, replicaKey(replica), sum(common, changeKeys)]
            case .holds(let replica): [2, replicaKey(replica)]
            case .propose(let devices): [3, devices.hashValue]
            case .promise(let proposal): [4, factKeys[proposal]]
            case .retire(let proposal): [5, factKeys[proposal]]
            case .bound(let proposal): [6, factKeys[proposal]]
            case .release(let proposal): [7, factKeys[proposal]]
            case .comeBack(let device): [8, device]
            case .floor(let changes): [9, sum(changes, changeKeys)]
            }
        return hash([fact.author, sum(fact.knows, factKeys), sum(fact.held, changeKeys)] + content)
    }

    /// Worlds with one key are the same but for the numbers of changes, facts and works.
    package var key: Int {
        hash(zip(nodes, copies).flatMap { node, copy in [key(of: node), copy.map(key) ?? 0] })
    }

    private func key(of node: Histories.Node) -> Int {
        let sets = [node.held, node.base, node.kept].map { sum($0, changeKeys) }
        let facts = [node.facts, node.forgotten].map { sum($0, factKeys) }
        let acknowledged = node.acknowledgements.flatMap {
            [$0.version, sum($0.held, changeKeys), sum($0.facts, factKeys)]
        }
        let works = [node.mine, node.aside].map { works in
            changes.indices.reduce(0) {
                $0 &+ (changes[$1].work.map(works.contains) == true ? changeKeys[$1] : 0)
            }
        }
        let state = [node.current.map(replicaKey) ?? 0, node.isAlive ? 1 : 0, node.isMember ? 1 : 0]
        return hash(sets + facts + acknowledged + works + state)
    }

    private func replicaKey(_ replica: Int) -> Int {
        hash([replicas[replica].device, sum(replicas[replica].firstFacts, factKeys)])
    }

    private func sum(_ set: Bits, _ keys: [Int]) -> Int { set.reduce(0) { $0 &+ keys[$1] } }

    private func hash(_ numbers: [Int]) -> Int {
        var hasher = Hasher()
        hasher.combine(numbers)
        return hasher.finalize()
    }
}
