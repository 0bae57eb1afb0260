import SyncModel
import SyncStore

/// What people do to a few objects: everything that a store can be asked to write, at random.
struct RandomWrites {
    static let names = ["a/1", "a/2", "b/1", "b/2"]

    var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }

    mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }

    mutating func write(on store: SQLiteStore) -> LocalWrite {
        if below(12) == 0 { return .operations([.event("s", "\(below(9))")]) }
        return .planned(
            (0...below(3)).map { _ in objectWrite(on: store) }, row: below(4) == 0 ? UInt64(below(2)) : nil)
    }

    private mutating func objectWrite(on store: SQLiteStore) -> ObjectWrite {
        let name = pick(Self.names)
        let number = below(5)
        switch below(20) {
        case 16..<18: return .attaching(pick(["x", "y", "zz"]), to: name)
        case 18...:
            let there = (try? store.attachments()) ?? []
            guard !there.isEmpty else { return .attaching("x", to: name) }
            let one = pick(there)
            return .detach(below(8) == 0 ? ObjectKey(name) : one.owner, attachment: one.attachment.id)
        case 0..<3:
            return .putting(
                name,
                pick([#"{"r":\#(number)}"#, #"{"r":"\#(number)","d":{"k":\#(number)}}"#, #"{"l":[\#(number),1]}"#]),
                replacing: below(4) == 0, ifAbsent: below(4) == 0)
        case 3: return .putting(name, #"{"t":"text \#(number)","v":\#(number)}"#)
        case 4..<7: return edit(name, number)
        case 7..<10: return .deleting(name)
        case 10: return .resolving(name, pick([.keep, .delete, .dismiss, .field(["r"], .integer(Int64(number)))]))
        case 11: return .schema(pick(["a", "b"]), pick(Self.schemas))
        case 12:
            let current = try? store.object(ObjectKey(name), space: .home)?.version
            return .putting(name, #"{"r":9}"#, ifVersion: current ?? nil)
        default: return edit(name, number, creating: true)
        }
    }

    private mutating func edit(_ name: String, _ number: Int, creating: Bool = false) -> ObjectWrite {
        let (path, action): (String, FieldEdit.Action) =
            switch below(9) {
            case 0: ("n", .increment(Int64(number - 2)))
            case 1: ("e", .add(.integer(Int64(number))))
            case 2: ("e", .remove(.integer(Int64(number))))
            case 3: ("l", .insert(at: 0, .integer(Int64(number))))
            case 4: ("l", .delete(at: 0, count: 1))
            case 5: ("l", .move(from: 0, to: 1))
            case 6: ("r", .unset)
            case 7: ("d/k/\(number)", .set("deep"))
            default: ("v", .set(.integer(Int64(number))))
            }
        return .editing(name, path, action, creating: creating)
    }

    private static let schemas = [
        #"{"deletePolicy":"ask"}"#, #"{"deletePolicy":"updateWins"}"#, #"{"deletePolicy":"lastWriterWins"}"#,
        #"{"deletePolicy":"deleteWins"}"#, #"{"indexed":["r","n"]}"#, #"{"indexed":["d"]}"#,
        #"{"fields":{"n":"counter","e":"set","t":"text"}}"#, #"{"fields":{"v":"local"}}"#, #"{"upsert":false}"#,
        #"{"fields":{"r":"constant"}}"#, #"{"upsert":true,"later":{"x":1}}"#,
    ]
}
