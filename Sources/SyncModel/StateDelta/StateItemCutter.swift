/// Cuts the bytes of a state delta, which come in pieces, into items.
///
/// Memory: the item that is not whole yet, at most `Limits.stateObjectBytes`; never traps on what a peer sends.
package struct StateItemCutter: Sendable, Equatable {
    /// The bytes of the incomplete item.
    private var open: [UInt8] = []
    /// The length of the incomplete item, once it is known.
    private var wanted: Int?

    package init() {}

    /// True if no bytes of an incomplete item are left.
    package var isBetweenItems: Bool { open.isEmpty }

    /// - Returns: the items that are whole by now, in their order.
    /// - Throws: `malformed` for a kind that does not exist, or an item longer than its kind may be.
    package mutating func take(_ bytes: [UInt8]) throws(StateDeltaError) -> [[UInt8]] {
        var items: [[UInt8]] = []
        var rest = bytes[...]
        while true {
            if wanted == nil { try readHeader(&rest) }
            guard let wanted else { return items }
            let part = rest.prefix(wanted - open.count)
            open += part
            rest = rest.dropFirst(part.count)
            guard open.count == wanted else { return items }
            items.append(open)
            (open, self.wanted) = ([], nil)
        }
    }

    /// The kind and the length, byte by byte: they may come apart.
    private mutating func readHeader(_ rest: inout ArraySlice<UInt8>) throws(StateDeltaError) {
        while let byte = rest.popFirst() {
            open.append(byte)
            guard let kind = StateItem.Kind(rawValue: open[0]) else {
                throw .malformed(.outOfRange(field: "state.kind"))
            }
            // The last byte of a varint is below 0x80; none has more than ten.
            guard open.count > 1, byte < 0x80 || open.count > 11 else { continue }
            var reader = ByteReader(open)
            do throws(CodecError) {
                _ = try reader.byte()
                let length = Int(try reader.varint(upTo: UInt64(kind.limitBytes), "state.length"))
                wanted = open.count + length
            } catch { throw .malformed(error) }
            return
        }
    }
}
