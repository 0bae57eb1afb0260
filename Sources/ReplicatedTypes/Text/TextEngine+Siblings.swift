// Where a scalar goes when its place has children already: people typed there apart, or one of them had not seen the rest.

extension TextEngine {
    /// A child of a place that has several, with what their order depends on.
    private struct Sibling {
        let number: Int
        let rightOrigin: Int
        let replica: Int
        let counter: UInt64
    }

    /// Notes the new head among its siblings and says where in the order it goes.
    mutating func placeBesideSiblings(
        _ number: Int, parent: Int, isLeft: Bool, rightOrigin: Int, dot: (replica: Int, counter: UInt64)
    ) -> SpanTree.Place {
        if !siblings.isBuilt { buildSiblings() }
        let new = Sibling(number: number, rightOrigin: rightOrigin, replica: dot.replica, counter: dot.counter)
        let key = Self.place(parent, isLeft: isLeft)
        let (behind, next) = neighbours(of: new, at: key)
        var before = behind.map { Int(heads[$0]) }
        var after = next.map { Int(heads[$0]) }
        if !isLeft, hasImplicitChild(parent) {
            // What its author typed on with is a child like the others.
            let implicit = sibling(parent + 1)
            if precedes(implicit, new) {
                if before.map({ precedes(sibling($0), implicit) }) ?? true { before = parent + 1 }
            } else if after.map({ precedes(implicit, sibling($0)) }) ?? true {
                after = parent + 1
            }
        }
        let place = place(parent: parent, isLeft: isLeft, before: before, after: after)
        addHeadAmongSiblings(number, parent: parent, isLeft: isLeft, rightOrigin: rightOrigin, behind: behind)
        return place
    }

    /// The heads between which a new one goes. Most come in the order of their dots, so the last is asked first.
    private mutating func neighbours(of new: Sibling, at key: Int32) -> (behind: Int?, next: Int?) {
        if let last = siblings.last(at: key), precedes(sibling(Int(heads[last])), new) { return (last, nil) }
        var behind: Int?
        var next = siblings.first(at: key)
        while let head = next, precedes(sibling(Int(heads[head])), new) {
            behind = head
            next = siblings.next(after: head)
        }
        return (behind, next)
    }

    private mutating func place(parent: Int, isLeft: Bool, before: Int?, after: Int?) -> SpanTree.Place {
        if let after, isLeft || before != nil { return tree.place(of: leftmost(below: after)) }
        if isLeft { return tree.place(of: parent) }
        guard let before else {
            if parent < 0 { return SpanTree.Place(leaf: SpanTree.firstLeaf, index: 0, offset: 0) }
            return behind(parent)
        }
        return behind(rightmost(below: before))
    }

    private mutating func behind(_ number: Int) -> SpanTree.Place {
        var place = tree.place(of: number)
        place.offset += 1
        return place
    }

    private mutating func addHeadAmongSiblings(
        _ number: Int, parent: Int, isLeft: Bool, rightOrigin: Int, behind: Int?
    ) {
        let key = Self.place(parent, isLeft: isLeft)
        let isFirst = siblings.first(at: key) == nil
        addHead(number, parent: parent, isLeft: isLeft, rightOrigin: rightOrigin)
        // `addHead` filed it already when there was no other.
        if !isFirst { siblings.insert(heads.count - 1, behind: behind, at: key) }
    }

    private mutating func sibling(_ number: Int) -> Sibling {
        let (replica, counter) = dots.dot(of: number)
        return Sibling(number: number, rightOrigin: rightOrigin(of: number), replica: replica, counter: counter)
    }

    /// Returns true if the left sibling is before the right one. Right children are in the reverse order of right origins,
    /// the end being the greatest; then by dot. Left children all have the same right origin.
    private mutating func precedes(_ left: Sibling, _ right: Sibling) -> Bool {
        if left.rightOrigin != right.rightOrigin {
            if left.rightOrigin == Self.none { return true }
            if right.rightOrigin == Self.none { return false }
            return tree.precedes(right.rightOrigin, left.rightOrigin)
        }
        if left.replica == right.replica { return left.counter < right.counter }
        return dots.replicas[left.replica] < dots.replicas[right.replica]
    }

    /// The first scalar of what hangs below `number`, itself included.
    private func leftmost(below number: Int) -> Int {
        var number = number
        while hasLeft[number], let first = siblings.first(at: Self.place(number, isLeft: true)) {
            number = Int(heads[first])
        }
        return number
    }

    /// The last scalar of what hangs below `number`, itself included.
    private mutating func rightmost(below number: Int) -> Int {
        var number = number
        descent: while true {
            let tail = tail(of: head(of: number))
            var from = number
            while let parent = hasRight.first(in: from..<tail + 1) {
                let last = lastChild(at: Self.place(parent, isLeft: false))
                if parent == tail || precedes(sibling(parent + 1), sibling(last)) {
                    number = last
                    continue descent
                }
                from = parent + 1
            }
            return tail
        }
    }

    private func lastChild(at place: Int32) -> Int {
        guard let head = siblings.last(at: place) else {
            preconditionFailure("a scalar of a text that has explicit children has them filed")
        }
        return Int(heads[head])
    }

    private mutating func buildSiblings() {
        siblings.begin(heads: heads.count)
        for head in 0..<heads.count {
            siblings.addHead()
            let new = sibling(Int(heads[head]))
            siblings.insert(head, behind: neighbours(of: new, at: places[head]).behind, at: places[head])
        }
    }
}
