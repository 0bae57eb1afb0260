import ReferenceModels
import SyncModel

extension LawSubject {
    /// Every replicated type, and what nests them in ways that differ.
    package static let all: [LawSubject] = [
        LawSubject("register", Travel<ReplicatedRegister<ExactString>>.canonical()),
        LawSubject("constant", Travel<Constant<ExactString>>.canonical()),
        LawSubject("counter", Travel<ReplicatedCounter>.canonical()),
        LawSubject("addOnlySet", Travel<AddOnlySet<ExactString>>.canonical()),
        LawSubject("set", Travel<ReplicatedSet<ExactString>>.canonical()),
        LawSubject("dictionary of registers", Travel<Keyed<ReplicatedRegister<ExactString>>>.canonical()),
        LawSubject("dictionary of counters", Travel<Keyed<ReplicatedCounter>>.canonical()),
        LawSubject("dictionary of sets", Travel<Keyed<ReplicatedSet<ExactString>>>.canonical()),
        LawSubject("dictionary of dictionaries of counters", Travel<Keyed<Keyed<ReplicatedCounter>>>.canonical()),
        LawSubject("dictionary of lists of counters", Travel<Keyed<ReplicatedList<ReplicatedCounter>>>.canonical()),
        LawSubject("list of registers", Travel<ReplicatedList<ReplicatedRegister<ExactString>>>.canonical()),
        LawSubject(
            "list of dictionaries of counters", Travel<ReplicatedList<Keyed<ReplicatedCounter>>>.canonical()),
        LawSubject(
            "list of lists of sets", Travel<ReplicatedList<ReplicatedList<ReplicatedSet<ExactString>>>>.canonical()),
        LawSubject("dictionary of texts", Travel<Keyed<ReplicatedText>>.canonical()),
        LawSubject("text", Travel<ReplicatedText>.canonical()),
        LawSubject("orderedSet", Travel<ReplicatedOrderedSet<ExactString>>.canonical()),
        LawSubject("value", Travel<ReplicatedValue>.canonical()),
        LawSubject("struct", Travel<LawNote>.json()),
        LawSubject("dictionary of structs", Travel<Keyed<LawNote>>.json()),
    ]

    package static func named(_ name: String) -> LawSubject {
        guard let subject = all.first(where: { $0.name == name }) else {
            preconditionFailure("no replicated type is called \(name)")
        }
        return subject
    }
}

private typealias Keyed<Value: Replicated> = ReplicatedDictionary<ExactString, Value>
