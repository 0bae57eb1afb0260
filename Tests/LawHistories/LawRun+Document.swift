import ReferenceModels
import SyncModel

extension LawRun {
    /// The same changes through `Document`, in any order, also too early and many times.
    mutating func checkDocument(_ end: Replica) throws(Fault) {
        // A forged stamp at the end of time waits for those before it, which nobody wrote.
        let changes = try network.documentChanges()
        guard let name = network.cast.replicas.first else { return }
        var document = Document<Value>(replica: name)
        var waiting = changes
        while !waiting.isEmpty {
            waiting.shuffle(using: &random)
            let before = waiting.count
            var late: [DocumentChange<Value.Operation>] = []
            for change in waiting {
                do throws(DocumentError) {
                    try document.apply(change)
                    try document.apply(change)
                } catch {
                    guard error == .missingContext else { throw Fault("a document takes what was written", "\(error)") }
                    late.append(change)
                }
            }
            waiting = late
            guard waiting.count < before else { throw Fault("a document takes what was written", "\(late)") }
        }
        guard document.vector == end.vector else { throw Fault("a document holds all", "\(document.vector)") }
        try expectEqual("a document is what its operations make", document.value, end.value)
    }
}
