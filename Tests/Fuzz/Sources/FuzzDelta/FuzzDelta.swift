import SyncModel

private let key = ObjectKey(collection: "c", id: "a")

/// Any bytes as what comes of a state delta: cut anywhere it falls into the same items, what is taken has one form, a receiver that
/// reads the items, in whatever order, refuses or takes each without a trap, and what they say can be joined.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzDelta(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    let whole = cut([bytes])
    let middle = bytes.count / 2
    precondition(cut([Array(bytes[..<middle]), Array(bytes[middle...])]) == whole, "items depend on how they come")
    read(whole)
    let items = whole.compactMap { item -> StateItem? in
        var reader = ByteReader(item)
        guard let taken = try? StateItem(reading: &reader), reader.isAtEnd else { return nil }
        precondition(taken.canonicalBytes == item, "an item has two forms")
        return taken
    }
    send(items)
    join(items)
    return 0
}

private func cut(_ pieces: [[UInt8]]) -> [[UInt8]] {
    var cutter = StateItemCutter()
    var items: [[UInt8]] = []
    for piece in pieces {
        guard let whole = try? cutter.take(piece) else { return [] }
        items += whole
    }
    return items
}

private func read(_ items: [[UInt8]]) {
    var stream = StateStream()
    for item in items {
        do { _ = try stream.read(item) } catch { return precondition(!error.code.isEmpty) }
    }
}

/// The same with checks and an end that fit, so that a receiver gets to them.
private func send(_ items: [StateItem]) {
    var stream = StateStream()
    var sent: [[UInt8]] = []
    for item in items {
        switch item {
        case .end, .check: continue
        case _: sent.append(stream.write(item))
        }
        if let check = stream.checkIfDue() { sent.append(stream.write(check)) }
    }
    let vector = items.reduce(into: VersionVector()) { vector, item in
        if case .tip(let tip) = item { vector.advance(tip.replica, to: tip.tip.next) }
    }
    sent.append(stream.write(stream.end(vector: vector)))
    read(sent)
}

private func join(_ items: [StateItem]) {
    var state = ObjectState(touched: VersionVector(), greatestStamp: .zero)
    var held = VersionVector()
    for item in items {
        switch item {
        case .object(let object):
            var theirs = held
            theirs.join(object.delta.lives.touched)
            guard object.delta.isCovered(by: theirs) else { continue }
            var joined = state
            joined.join(object.delta, held: held, theirs: theirs) { [] }
            // What does not come to an object that can be read the store refuses.
            guard let again = try? ObjectState(canonicalBytes: joined.canonicalBytes) else { continue }
            precondition(again == joined, "a state reads back as another")
            _ = (
                ObjectReading(joined, schema: nil, isLive: { _ in false }).json.canonicalBytes,
                joined.digestTerm(of: key)
            )
            (state, held) = (joined, theirs)
        case .cuts(let cuts): _ = try? cuts.table(MemberFacts())
        case .fact(let fact): _ = fact.fact.isBound
        case .dropped(let dropped): _ = dropped.events.within(held)
        case .tip(let tip): _ = tip.isSigned(space: .home, signingKey: Array(repeating: 1, count: 32))
        case .schema, .stream, .announcement, .events, .births, .end, .check: break
        }
    }
}
