import ReferenceModels
import SyncModel

extension LawSubject {
    /// Every replicated type; those that nest others in several ways, which share the histories of their type.
    package static let all: [LawSubject] = [
        LawSubject("register", Travel<ReplicatedRegister<ExactString>>.canonical(), histories: 10_000),
        LawSubject("constant", Travel<Constant<ExactString>>.canonical(), histories: 10_000),
        LawSubject("counter", Travel<ReplicatedCounter>.canonical(), histories: 10_000),
        LawSubject("set", Travel<ReplicatedSet<ExactString>>.canonical(), histories: 10_000),
        LawSubject("addOnlySet", Travel<AddOnlySet<ExactString>>.canonical(), histories: 10_000),
        LawSubject("orderedSet", Travel<ReplicatedOrderedSet<ExactString>>.canonical(), histories: 10_000),
        LawSubject("text", Travel<ReplicatedText>.canonical(), histories: 50_000),
        LawSubject("attachments", Travel<AttachmentSet>.canonical(), histories: 10_000),
        LawSubject("value", Travel<ReplicatedValue>.canonical(), histories: 10_000),

        LawSubject("list of registers", Travel<List<ReplicatedRegister<ExactString>>>.canonical(), histories: 4_000),
        LawSubject(
            "list of dictionaries of counters", Travel<List<Keyed<ReplicatedCounter>>>.canonical(), histories: 3_000),
        LawSubject(
            "list of lists of sets", Travel<List<List<ReplicatedSet<ExactString>>>>.canonical(), histories: 3_000),

        LawSubject(
            "dictionary of registers", Travel<Keyed<ReplicatedRegister<ExactString>>>.canonical(), histories: 2_000),
        LawSubject("dictionary of counters", Travel<Keyed<ReplicatedCounter>>.canonical(), histories: 2_000),
        LawSubject("dictionary of sets", Travel<Keyed<ReplicatedSet<ExactString>>>.canonical(), histories: 2_000),
        LawSubject("dictionary of texts", Travel<Keyed<ReplicatedText>>.canonical(), histories: 1_000),
        LawSubject(
            "dictionary of dictionaries of counters", Travel<Keyed<Keyed<ReplicatedCounter>>>.canonical(),
            histories: 2_000),
        LawSubject(
            "dictionary of lists of counters", Travel<Keyed<List<ReplicatedCounter>>>.canonical(), histories: 1_000),

        LawSubject("dictionary of attachments", Travel<Keyed<AttachmentSet>>.canonical(), histories: 1_000),

        // Only as JSON, which takes twenty times as long.
        LawSubject("struct", Travel<LawNote>.json(), histories: 400),
        LawSubject("dictionary of structs", Travel<Keyed<LawNote>>.json(), histories: 200),
    ]

    package static func named(_ name: String) -> LawSubject {
        guard let subject = all.first(where: { $0.name == name }) else {
            preconditionFailure("no replicated type is called \(name)")
        }
        return subject
    }
}

private typealias List<Value: Replicated> = ReplicatedList<Value>
private typealias Keyed<Value: Replicated> = ReplicatedDictionary<ExactString, Value>
