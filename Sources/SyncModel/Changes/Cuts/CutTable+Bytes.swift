// How a store keeps it, in one column. What follows from it is computed anew.
extension CutTable {
    /// Layout: six lists, each a varint count and its rows in order: cuts, witnesses, returns, exemptions, rewritings, settled
    /// cuts. Where there are statements on roles, the trust table follows.
    package var encoded: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(list: cuts) { cut, bytes in
            bytes.append(dot: cut.dot)
            bytes.append(lengthPrefixed: cut.fact.canonicalBytes)
        }
        bytes.append(list: witnesses) { witness, bytes in
            bytes.append(dot: witness.cut)
            bytes.append(dot: witness.change)
            bytes.append(dot: Dot(replica: witness.replica, counter: witness.next))
        }
        bytes.append(list: returns.sorted()) { $1.append($0) }
        bytes.append(list: exemptions.sorted()) { exemption, bytes in
            bytes += exemption.replica.bytes
            bytes.append(exemption.reason)
        }
        bytes.append(list: rewritten.sorted()) { rewriting, bytes in
            bytes.append(dot: rewriting.old)
            bytes.append(varint: rewriting.count)
            bytes.append(dot: rewriting.new)
        }
        bytes.append(list: settled) { $1.append(dot: $0) }
        if !trust.isEmpty { trust.append(to: &bytes) }
        return bytes
    }

    package init(encoded bytes: [UInt8], members: MemberFacts) throws(CodecError) {
        self.init()
        if bytes.isEmpty { return }
        join(try Self.rows(bytes), members: members)
    }

    /// True if the table holds strict cuts: then a program that gave strict cuts effect wrote it.
    package static func holdsStrictCut(encoded bytes: [UInt8]) -> Bool {
        guard !bytes.isEmpty, let rows = try? rows(bytes) else { return false }
        return rows.cuts.contains { !$0.fact.hasEffect }
    }

    static func trust(encoded bytes: [UInt8]) throws(CodecError) -> TrustTable { try rows(bytes).trust }

    /// Reads the rows without computing what follows from them.
    private static func rows(_ bytes: [UInt8]) throws(CodecError) -> CutTable {
        var reader = ByteReader(bytes)
        let cuts = try reader.list { reader throws(CodecError) in
            let dot = try reader.dot()
            var body = ByteReader(reader.bytes, try reader.lengthPrefixed(upTo: Limits.operationsBytes, "cut.fact"))
            return Cut(dot: dot, fact: try CutFact(reading: &body))
        }
        let witnesses = try reader.list { reader throws(CodecError) in
            let (cut, change, seen) = (try reader.dot(), try reader.dot(), try reader.dot())
            return Witness(cut: cut, change: change, replica: seen.replica, next: seen.counter)
        }
        let returns = try reader.list { reader throws(CodecError) in try reader.cutReturn() }
        let exemptions = try reader.list { reader throws(CodecError) in
            Exemption(replica: try reader.dotReplica(), reason: try reader.cutReturn())
        }
        let rewritten = try reader.list { reader throws(CodecError) in
            let (old, count, new) = (try reader.dot(), try reader.varint(), try reader.dot())
            // Sums of them are computed.
            guard max(old.counter, new.counter) <= Limits.counters, count <= Limits.counters - old.counter else {
                throw .outOfRange(field: "cuts.rewriting")
            }
            return Rewriting(old: old, count: count, new: new)
        }
        let settled = try reader.list { reader throws(CodecError) in try reader.dot() }
        let trust = reader.isAtEnd ? TrustTable() : try TrustTable(reading: &reader)
        guard reader.isAtEnd else { throw .trailingBytes }
        return CutTable(
            cuts: cuts, witnesses: witnesses, returns: returns, exemptions: exemptions, rewritten: rewritten,
            settled: settled, trust: trust)
    }

    /// True if the bytes are the `encoded` form of a single table.
    static func isCanonical(_ bytes: [UInt8]) -> Bool {
        guard let rows = try? rows(bytes), !rows.isEmpty else { return false }
        return rows.isAscending && rows.encoded == bytes
    }

    private var isAscending: Bool {
        cuts.allSatisfy { $0.fact.device != $0.dot.replica.device } && cuts.map(\.dot).isAscending
            && witnesses.isAscending && returns.isAscending && exemptions.isAscending && rewritten.isAscending
            && settled.isAscending
    }
}

extension Array where Element: Comparable {
    fileprivate var isAscending: Bool { zip(self, dropFirst()).allSatisfy { $0 < $1 } }
}

extension CutTable.Return: Comparable {
    package static func < (left: Self, right: Self) -> Bool {
        if left.cut != right.cut { return left.cut < right.cut }
        return left.addition == right.addition ? left.device < right.device : left.addition < right.addition
    }
}

extension CutTable.Exemption: Comparable {
    package static func < (left: Self, right: Self) -> Bool {
        left.replica == right.replica ? left.reason < right.reason : left.replica < right.replica
    }
}

extension Rewriting: Comparable {
    package static func < (left: Self, right: Self) -> Bool {
        if left.old != right.old { return left.old < right.old }
        return left.new == right.new ? left.count < right.count : left.new < right.new
    }
}

extension [UInt8] {
    fileprivate mutating func append<Row>(list: [Row], _ body: (Row, inout [UInt8]) -> Void) {
        append(varint: UInt64(list.count))
        for element in list { body(element, &self) }
    }

    fileprivate mutating func append(dot: Dot) {
        self += dot.replica.bytes
        append(varint: dot.counter)
    }

    fileprivate mutating func append(_ reason: CutTable.Return) {
        append(dot: reason.cut)
        append(dot: reason.addition)
        self += reason.device.bytes
    }
}

extension ByteReader {
    fileprivate mutating func list<Element>(
        _ body: (inout ByteReader) throws(CodecError) -> Element
    ) throws(CodecError) -> [Element] {
        var elements: [Element] = []
        for _ in 0..<(try varint(upTo: UInt64(remainingCount), "cuts.count")) { elements.append(try body(&self)) }
        return elements
    }

    fileprivate mutating func dotReplica() throws(CodecError) -> ReplicaID {
        let range = try skip(ReplicaID.byteCount)
        guard let replica = ReplicaID(bytes: bytes[range]) else { throw .truncated }
        return replica
    }

    fileprivate mutating func dot() throws(CodecError) -> Dot {
        Dot(replica: try dotReplica(), counter: try varint())
    }

    fileprivate mutating func cutReturn() throws(CodecError) -> CutTable.Return {
        CutTable.Return(cut: try dot(), addition: try dot(), device: try device("cuts.device"))
    }
}
