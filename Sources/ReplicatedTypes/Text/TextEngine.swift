/// A text in its editable form: the scalars in their order, the position of each, and its value.
///
/// Scalars have numbers, from 0 in the order in which they arrived here. The tree of positions is that of `PositionTree`
/// (FugueMax), kept by runs: a scalar is the right child of the number before it, with the same right origin, unless it is
/// the *head* of a run, for which parent, side and right origin are stored. Where no replicas typed side by side, a place is
/// found without a search for siblings. (Weidner and Kleppmann, "The Art of the Fugue", 2023; the laziness is that of Gentle
/// and Kleppmann, "Collaborative Text Editing with Eg-walker", EuroSys 2025.)
///
/// Hot file: numbers and offsets are checked by the caller. Tested against an array of scalars (TextEditorTests), by every
/// road against every other (TextEditorHistoryTests), and against the reference model (LawTests).
struct TextEngine: ~Copyable {
    /// The value in place of a number for the beginning as a parent and for the end as a right origin.
    static let none = -1
    /// Scalars one text can count, deleted ones included.
    static let capacity = 1 << 30 - 2

    var dots = DotTable()
    var tree = SpanTree()
    var arena = ScalarArena()

    /// Numbers of heads, ascending; of each its place, (parent + 1) · 2 + (1 if on the left), and its right origin.
    var heads = Column<Int32>()
    var places = Column<Int32>()
    var rightOrigins = Column<Int32>()
    var isHead = BitColumn()
    /// The scalars that have explicit children on a side.
    var hasLeft = BitColumn()
    var hasRight = BitColumn()
    var siblings = SiblingIndex()

    /// The offset behind the open run; −1 if no run is open. What is typed behind the last scalar typed goes straight into
    /// the arena. The other structures are updated when the run is settled.
    private var openEnd = -1
    /// The item that it belongs to.
    private var openLeaf = 0
    private var openIndex = 0
    /// The address in the arena of the next byte, and the number of bytes that fit.
    private var openBytes: UnsafeMutablePointer<UInt8>?
    private var openRoom = 0
    /// Typed and not settled.
    private var openCount = 0
    private var openCounter: UInt64 = 0
    private var openReplica = 0

    /// The effects of other replicas' edits on what is shown, recorded while a caller wants them.
    var edits: [TextEdit]?
    /// The places where what is shown changed since the last query by stretches. Nil if there was no query, or if too much
    /// changed to follow.
    var splices: [TextSplice]?

    init() {}

    init(copying other: borrowing TextEngine) {
        dots = DotTable(copying: other.dots)
        tree = SpanTree(copying: other.tree)
        arena = ScalarArena(copying: other.arena)
        heads = Column(copying: other.heads)
        places = Column(copying: other.places)
        rightOrigins = Column(copying: other.rightOrigins)
        isHead = BitColumn(copying: other.isHead)
        hasLeft = BitColumn(copying: other.hasLeft)
        hasRight = BitColumn(copying: other.hasRight)
        splices = other.splices
    }

    /// Numbers given so far.
    @inline(__always)
    var count: Int { arena.count }

    // MARK: Places

    @inline(__always)
    static func place(_ parent: Int, isLeft: Bool) -> Int32 {
        Int32(truncatingIfNeeded: (parent + 1) << 1 | (isLeft ? 1 : 0))
    }

    /// The head of the run that a scalar is in, as an index in `heads`.
    func head(of number: Int) -> Int {
        if let last = heads.last, Int(last) <= number { return heads.count - 1 }
        return heads.firstIndexPast { $0 > Int32(truncatingIfNeeded: number) } - 1
    }

    /// The last number of the run of a head.
    func tail(of head: Int) -> Int { (head + 1 < heads.count ? Int(heads[head + 1]) : count) - 1 }

    /// Returns the right origin of a scalar typed next behind `number` if no scalar was typed there since.
    func rightOrigin(of number: Int) -> Int { number < 0 ? Self.none : Int(rightOrigins[head(of: number)]) }

    /// Returns the position of a scalar in the tree.
    func position(of number: Int) -> (parent: Int, isLeft: Bool, rightOrigin: Int) {
        let head = head(of: number)
        guard Int(heads[head]) == number else { return (number - 1, false, Int(rightOrigins[head])) }
        let place = places[head]
        return (Int(place >> 1) - 1, place & 1 == 1, Int(rightOrigins[head]))
    }

    @inline(__always)
    func hasRightChild(_ number: Int) -> Bool {
        if number < 0 { return count > 0 }
        return hasRight[number] || hasImplicitChild(number)
    }

    /// True if the next number continues the run.
    @inline(__always)
    func hasImplicitChild(_ number: Int) -> Bool { number >= 0 && number + 1 < count && !isHead[number + 1] }

    // MARK: Typing here

    /// Types one ASCII letter behind what the same replica typed last; false, and nothing happens, if it does not go there.
    @inline(__always)
    mutating func typeOn(_ byte: UInt8, at offset: Int) -> Bool {
        guard offset == openEnd, openCount < openRoom, let openBytes else { return false }
        openBytes[openCount] = byte
        openCount &+= 1
        openEnd &+= 1
        return true
    }

    /// The number of the next scalar, with what is not settled.
    @inline(__always)
    var nextNumber: Int { arena.count + openCount }

    /// Updates the other structures with what was typed in the open run. To be called before any other query.
    @inline(__always)
    mutating func settle() { if openCount > 0 { settleOpenRun() } }

    /// Ends the open run: the next scalar may be another replica's.
    mutating func endRun() {
        settle()
        openEnd = -1
    }

    @inline(never)
    private mutating func settleOpenRun() {
        let typed = openCount
        arena.append(written: typed)
        dots.append(typed, counter: openCounter, by: openReplica)
        tree.extend(openLeaf, openIndex, by: typed, excess: UnicodeExcess())
        if splices != nil { recordSplice(at: openEnd - typed, deleted: 0, inserted: typed) }
        openCounter += UInt64(typed)
        openBytes = openBytes.map { $0 + typed }
        openRoom -= typed
        openCount = 0
    }

    /// Makes the scalar inserted last the end of an open run.
    private mutating func openRun(behind offset: Int, counter: UInt64, by replica: Int) {
        openEnd = offset
        (openBytes, openRoom) = arena.room
        openRoom = min(openRoom, SpanTree.longestItem - tree.item(openLeaf, openIndex).count)
        openCounter = counter
        openReplica = replica
    }

    /// The place at which a typed scalar goes.
    struct Spot {
        var place: SpanTree.Place
        var parent: Int
        var isLeft: Bool
        var rightOrigin: Int
    }

    /// The spot behind the shown scalar before `offset`, and before whatever follows it, shown or not.
    mutating func spot(at offset: Int) -> Spot {
        var previous = Self.none
        var next = Self.none
        var place = SpanTree.Place(leaf: SpanTree.firstLeaf, index: 0, offset: 0)
        if offset > 0 {
            place = tree.place(ofShown: offset - 1)
            let item = tree.item(place.leaf, place.index)
            previous = item.number + place.offset
            place.offset += 1
            next = place.offset < item.count ? previous + 1 : tree.item(after: place.leaf, place.index)?.number ?? next
        } else if tree.itemCount(in: SpanTree.firstLeaf) > 0 {
            next = tree.item(SpanTree.firstLeaf, 0).number
        }
        // What follows is below `previous` if that has a right child, and then nothing is on its left.
        let isLeft = hasRightChild(previous)
        return Spot(place: place, parent: isLeft ? next : previous, isLeft: isLeft, rightOrigin: next)
    }

    /// Puts scalars at an offset of what is shown, as a person does.
    mutating func insert(_ scalars: some Scalars, at offset: Int, counter: UInt64, by replica: Int) {
        let number = arena.count
        let spot = spot(at: offset)
        if spot.isLeft || !goesOn(from: spot.parent, rightOrigin: spot.rightOrigin) {
            addHead(number, parent: spot.parent, isLeft: spot.isLeft, rightOrigin: spot.rightOrigin)
        }
        append(scalars, counter: counter, by: replica)
        insertSpan(number, at: spot.place)
        let added = arena.count - number
        if splices != nil { recordSplice(at: offset, deleted: 0, inserted: added) }
        openRun(behind: offset + added, counter: counter + UInt64(added), by: replica)
    }

    /// True if the next number would continue the run that ends with `parent`.
    @inline(__always)
    private func goesOn(from parent: Int, rightOrigin: Int) -> Bool {
        parent >= 0 && parent == count - 1 && self.rightOrigin(of: parent) == rightOrigin
    }

    /// The numbers of the shown scalars at a range, in order.
    mutating func numbers(ofShown range: Range<Int>) -> [Range<Int>] {
        var numbers: [Range<Int>] = []
        var offset = range.lowerBound
        while offset < range.upperBound {
            let place = tree.place(ofShown: offset)
            let item = tree.item(place.leaf, place.index)
            let first = item.number + place.offset
            let part = min(range.upperBound - offset, item.count - place.offset)
            numbers.append(first..<first + part)
            offset += part
        }
        return numbers
    }

    /// Deletes the shown scalar at an offset and says which it was.
    @inline(__always)
    mutating func removeOne(at offset: Int) -> Int {
        openEnd = -1
        if splices != nil { recordSplice(at: offset, deleted: 1, inserted: 0) }
        return tree.hideOne(at: offset, arena)
    }

    /// Deletes the shown scalars at a range; `body` is told which numbers those are.
    mutating func remove(_ range: Range<Int>, _ body: (Int, Int) -> Void) {
        var rest = range.count
        while rest > 0 {
            let place = tree.place(ofShown: range.lowerBound)
            let item = tree.item(place.leaf, place.index)
            let part = min(rest, item.count - place.offset)
            body(item.number + place.offset, part)
            tree.hide(place, count: part, arena)
            rest -= part
        }
        if splices != nil { recordSplice(at: range.lowerBound, deleted: range.count, inserted: 0) }
        openEnd = -1
    }

    // MARK: Taking in

    /// Adds the numbers of new scalars and what they are.
    private mutating func append(_ scalars: some Scalars, counter: UInt64, by replica: Int) {
        let first = arena.count
        scalars.append(to: &arena)
        dots.append(arena.count - first, counter: counter, by: replica)
        reserveBits(for: arena.count)
    }

    private mutating func reserveBits(for count: Int) {
        let count = count + ScalarArena.pageCount
        isHead.reserve(count)
        hasLeft.reserve(count)
        hasRight.reserve(count)
    }

    /// Makes room for what is known of each of `count` scalars.
    mutating func reserve(_ count: Int) { reserveBits(for: count) }

    /// Puts the numbers from `number` on into the order.
    private mutating func insertSpan(_ number: Int, at place: SpanTree.Place) {
        var (number, place) = (number, place)
        while number < count {
            let part = min(count - number, SpanTree.longestItem)
            place = tree.insert(number, count: part, at: place, excess: arena.excess(number, part), arena)
            (openLeaf, openIndex) = (place.leaf, place.index)
            place.offset = tree.item(place.leaf, place.index).count
            number += part
        }
    }

    /// Writes down where the next run hangs.
    mutating func addHead(_ number: Int, parent: Int, isLeft: Bool, rightOrigin: Int) {
        reserveBits(for: number)
        heads.append(Int32(truncatingIfNeeded: number))
        places.append(Self.place(parent, isLeft: isLeft))
        rightOrigins.append(Int32(truncatingIfNeeded: rightOrigin))
        isHead.set(number)
        if parent >= 0 { isLeft ? hasLeft.set(parent) : hasRight.set(parent) }
        if siblings.isBuilt {
            siblings.addHead()
            // There is no sibling: `addHead(_:behind:)` is for places that have some.
            if siblings.first(at: Self.place(parent, isLeft: isLeft)) == nil {
                siblings.insert(heads.count - 1, behind: nil, at: Self.place(parent, isLeft: isLeft))
            }
        }
    }

    /// Inserts scalars where their author put them. Their dots must not be here yet.
    mutating func insert(
        _ scalars: some Scalars, parent: Int, isLeft: Bool, rightOrigin: Int, counter: UInt64, by replica: Int
    ) {
        let number = arena.count
        var place = SpanTree.Place(leaf: SpanTree.firstLeaf, index: 0, offset: 0)
        if isLeft ? hasLeft[parent] : hasRightChild(parent) {
            place = placeBesideSiblings(
                number, parent: parent, isLeft: isLeft, rightOrigin: rightOrigin, dot: (replica, counter))
        } else {
            if parent >= 0 {
                place = tree.place(of: parent)
                if !isLeft { place.offset += 1 }
            }
            if isLeft || !goesOn(from: parent, rightOrigin: rightOrigin) {
                addHead(number, parent: parent, isLeft: isLeft, rightOrigin: rightOrigin)
            }
        }
        append(scalars, counter: counter, by: replica)
        insertSpan(number, at: place)
        openEnd = -1
        if edits != nil { recordInserted(number..<arena.count) }
        if splices != nil {
            let offset = tree.shownIndex(of: tree.place(of: number))
            recordSplice(at: offset, deleted: 0, inserted: arena.count - number)
        }
    }

    mutating func recordInserted(_ numbers: Range<Int>) {
        let offset = tree.shownIndex(of: tree.place(of: numbers.lowerBound))
        let inserted = string(of: numbers)
        edits?.append(TextEdit(offset: offset, deleted: "", inserted: inserted))
    }

    private func string(of numbers: Range<Int>) -> String {
        var utf8: [UInt8] = []
        arena.append(numbers.lowerBound, numbers.count, to: &utf8)
        return String(decoding: utf8, as: UTF8.self)
    }

    /// Hides those of these numbers that are shown.
    mutating func hide(_ numbers: Range<Int>) {
        var number = numbers.lowerBound
        while number < numbers.upperBound {
            let place = tree.place(of: number)
            let item = tree.item(place.leaf, place.index)
            let part = min(numbers.upperBound - number, item.count - place.offset)
            if item.isShown {
                if edits != nil {
                    let deleted = string(of: number..<number + part)
                    edits?.append(TextEdit(offset: tree.shownIndex(of: place), deleted: deleted, inserted: ""))
                }
                if splices != nil { recordSplice(at: tree.shownIndex(of: place), deleted: part, inserted: 0) }
                tree.hide(place, count: part, arena)
                openEnd = -1
            }
            number += part
        }
    }

    // MARK: Reading

    /// The text a reader sees.
    var string: String {
        String(unsafeUninitializedCapacity: tree.shownCount + Int(tree.excess.utf8)) { buffer in
            guard var output = buffer.baseAddress else { return 0 }
            tree.forEachItem { if $0.isShown { arena.write($0.number, $0.count, to: &output) } }
            return output - buffer.baseAddress!
        }
    }

    /// Returns the text shown at a range of offsets.
    mutating func string(ofShown range: Range<Int>) -> String {
        let numbers = numbers(ofShown: range)
        let room = numbers.reduce(range.count) { $0 + Int(arena.excess($1.lowerBound, $1.count).utf8) }
        return String(unsafeUninitializedCapacity: room) { buffer in
            guard var end = buffer.baseAddress else { return 0 }
            for part in numbers { arena.write(part.lowerBound, part.count, to: &end) }
            return end - buffer.baseAddress!
        }
    }
}

/// A source of new scalars.
protocol Scalars {
    func append(to arena: inout ScalarArena)
}

extension String: Scalars {
    func append(to arena: inout ScalarArena) {
        var copy = self
        copy.withUTF8 { bytes in
            if bytes.isASCII { return arena.append(ascii: bytes) }
            for scalar in unicodeScalars { arena.append(scalar.value) }
        }
    }
}

extension Unicode.Scalar: Scalars {
    func append(to arena: inout ScalarArena) { arena.append(value) }
}

extension ArraySlice<UInt32>: Scalars {
    func append(to arena: inout ScalarArena) { for scalar in self { arena.append(scalar) } }
}

/// A part of another engine's scalars.
struct ArenaPart: Scalars {
    let cell: TextCell
    let number: Int
    let count: Int

    func append(to arena: inout ScalarArena) {
        for offset in 0..<count { arena.append(cell.engine.pointee.arena[number + offset]) }
    }
}
