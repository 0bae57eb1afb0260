import SyncCore
import SyncModel
import SyncStore

/// The random writes of applications on the nodes to a few objects. They go the way that the agent's writes go (`LocalWrite`,
/// planned in the store), so nothing here knows operations, lives or dots.
///
/// The objects are few, so that all nodes meet at the same ones. They have every type of field, with a schema and without.
struct ObjectWork {
    /// The generator of the writes, separate so that they do not depend on the number of frames sent.
    var random: SplitMix64
    /// Makes every string that is written another one: what a write became can be told.
    private var count = 0
    let options: WorldOptions.Objects

    /// The contents to attach, if there are bytes.
    let contents: [BlobContent]
    /// The percentage of records that state a wrong size of their blob, as of a faulty member.
    let wrongSizePercent: Int

    init(seed: UInt64, options: WorldOptions.Objects, contents: [BlobContent], wrongSizePercent: Int) {
        random = SplitMix64(seed: seed ^ 0x6f62_6a65_6374_7321)
        self.options = options
        self.contents = contents
        self.wrongSizePercent = wrongSizePercent
    }

    static let collections: [ExactString] = ["notes", "tasks", "songs"]

    /// Returns one local write, planned from what the node holds now; another may be committed before it.
    mutating func write(reading store: SQLiteStore) -> LocalWrite {
        let collection = Self.collections[number(0..<Self.collections.count)]
        let schema = (try? store.schema(of: collection, space: .home)) ?? nil
        // Most collections have one before they have objects.
        if chance(schema == nil && options.schemaPercent > 0 ? 40 : options.schemaPercent) {
            return .planned([.setSchema(collection, schemaWish())])
        }
        var writes = [objectWrite(collection, store)]
        while writes.count < 3, chance(15) { writes.append(objectWrite(collection, store)) }
        if chance(5) {
            writes.append(.appendEvent(.init(stream: "object work", type: nil, payload: Array("{}".utf8))))
        }
        return .planned(writes)
    }

    private mutating func objectWrite(_ collection: ExactString, _ store: SQLiteStore) -> ObjectWrite {
        let key = ObjectKey(collection: collection, id: ExactString("object\(number(0..<options.ids))"))
        let object = (try? store.object(key, space: .home)) ?? nil
        let schema = (try? store.schema(of: collection, space: .home)) ?? nil
        switch object?.summary.standing ?? .nothing {
        case .undecided where chance(70): return .resolve(key, chance(60) ? .keep : .delete)
        case .live where chance(options.deletePercent): return .delete(key, ifVersion: version(object))
        case .deleted where chance(20): return .resolve(key, .dismiss)
        case .live where chance(6): return .resolve(key, .field(["title"], scalar()))
        case .nothing, .live, .deleted, .undecided: break
        }
        if let object, object.summary.standing == .live, chance(options.attachPercent) {
            return attachment(object)
        }
        let view = ObjectView(object, schema)
        return chance(55) ? edit(key, view) : put(key, view, version(object))
    }

    /// Returns the version for a write: usually none, sometimes the one the writer saw, rarely one that does not exist.
    private mutating func version(_ object: StoredObject?) -> Dot? {
        guard let version = object?.version, chance(15) else { return nil }
        return chance(80) ? version : Dot(replica: version.replica, counter: version.counter + 1)
    }

    private mutating func put(_ key: ObjectKey, _ view: ObjectView, _ version: Dot?) -> ObjectWrite {
        var fields: [JSONValue.Member] = []
        for (name, kind) in ObjectView.fields where chance(35) {
            let type = view.type(of: name) ?? kind
            if type == .constant, view.isLive { continue }
            fields.append(JSONValue.Member(key: name, value: value(of: type, now: view[name])))
        }
        fields.sort { $0.key < $1.key }
        return .put(
            key,
            ObjectWrite.Put(
                fields: fields, replacing: chance(8), ifVersion: version, ifAbsent: version == nil && chance(6)))
    }

    // MARK: Values

    mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }

    mutating func moment(before end: Int64) -> Int64 { Int64.random(in: 0..<end, using: &random) }

    mutating func chance(_ percent: Int) -> Bool { number(0..<100) < percent }

    mutating func word() -> String {
        count += 1
        return "w\(count)"
    }

    mutating func scalar() -> JSONValue {
        switch number(0..<10) {
        case 0: .bool(chance(50))
        case 1: .integer(Int64(number(-9..<1_000)))
        case 2: .null
        case 3: .double(Double(number(0..<9)) + 0.5)
        case _: .text(word())
        }
    }

    /// A value of a field as an application would have it after some change to what it read.
    mutating func value(of type: FieldType, now: JSONValue?) -> JSONValue {
        switch type {
        case .register, .constant: return now.flatMap { chance(30) ? $0 : nil } ?? scalar()
        case .counter: return .integer(Int64(number(0..<50)))
        case .set, .addOnlySet, .orderedSet: return .array(changed(now, distinct: true) { $0.scalar() })
        case .list: return .array(changed(now, distinct: false) { $0.element() })
        case .text: return .text(changedText(now))
        case .dictionary: return dictionary(depth: 2)
        }
    }

    mutating func element() -> JSONValue { chance(60) ? scalar() : dictionary(depth: 1) }

    private mutating func dictionary(depth: Int) -> JSONValue {
        let keys = ["a", "b", "c"].filter { _ in chance(50) }
        return .object(
            keys.map { key in
                let isDeep = depth > 1 && chance(40)
                return JSONValue.Member(key: ExactString(key), value: isDeep ? dictionary(depth: depth - 1) : scalar())
            })
    }

    private mutating func changed(
        _ now: JSONValue?, distinct: Bool, _ make: (inout ObjectWork) -> JSONValue
    ) -> [JSONValue] {
        var elements: [JSONValue] = if case .array(let elements)? = now { elements } else { [] }
        if !elements.isEmpty, chance(40) { elements.remove(at: number(0..<elements.count)) }
        if elements.count > 1, chance(40) {
            elements.insert(elements.remove(at: number(0..<elements.count)), at: number(0..<elements.count))
        }
        while elements.count < 12, chance(50) {
            let element = make(&self)
            if !distinct || !elements.contains(element) { elements.insert(element, at: number(0..<elements.count + 1)) }
        }
        return elements
    }

    private mutating func changedText(_ now: JSONValue?) -> String {
        guard case .string(let text)? = now else { return word() }
        var scalars = Array(text.string.unicodeScalars)
        let start = number(0..<scalars.count + 1)
        let end = min(scalars.count, start + number(0..<4))
        scalars.replaceSubrange(start..<end, with: scalars.count > 60 ? [] : Array(word().unicodeScalars))
        var string = ""
        string.unicodeScalars.append(contentsOf: scalars)
        return string
    }

    // MARK: Schemas

    private mutating func schemaWish() -> JSONValue {
        let policies = options.policies
        var members: [JSONValue.Member] = []
        if chance(70) {
            members.append(.init(key: "deletePolicy", value: .text(policies[number(0..<policies.count)].name)))
        }
        if chance(60) {
            let fields = ObjectView.fields.filter { _ in chance(60) }.map { name, type in
                JSONValue.Member(key: name, value: .text(type.rawValue))
            }
            members.append(.init(key: "fields", value: .object(fields.sorted { $0.key < $1.key })))
        }
        if chance(20) { members.append(.init(key: "indexed", value: chance(50) ? ["title"] : ["title", "plays"])) }
        if chance(15) { members.append(.init(key: "upsert", value: .bool(chance(80)))) }
        if chance(10) { members.append(.init(key: "later version", value: scalar())) }
        return .object(members.sorted { $0.key < $1.key })
    }
}
