/// The steps that bring a sequence into a wanted order once all removed elements are gone. They run from its beginning, each
/// element directly behind the one before.
///
/// `Name` finds an element at any place; `Content` is what an element is made of.
struct Reordering<Name, Content> {
    enum Step {
        /// The element stands in order already.
        case stays(Name)
        case moves(Name)
        /// Next to each other; at least one.
        case inserts([Content])
    }

    private(set) var steps: [Step] = []

    /// An element that is there, or a new one; runs of new ones become one step. Constant time.
    mutating func append(_ step: Step) {
        guard case .inserts(let added) = step, let last = steps.indices.last, case .inserts(var run) = steps[last]
        else { return steps.append(step) }
        // Let go of first, so that the run grows where it is: copied for each element, a long list would take n² steps.
        steps[last] = .inserts([])
        run += added
        steps[last] = .inserts(run)
    }

    /// - Parameters:
    ///   - index: where the element is now.
    ///   - move: takes the element at the first index to the second, counted without it.
    ///   - insert: puts new elements before the index; says how to find the last of them.
    func run(index: (Name) -> Int, move: (Int, Int) -> Void, insert: ([Content], Int) -> Name) {
        var last: Name?
        for step in steps {
            switch step {
            case .stays(let name): last = name
            case .moves(let name):
                let source = index(name)
                let behind = last.map { index($0) + 1 } ?? 0
                move(source, source < behind ? behind - 1 : behind)
                last = name
            case .inserts(let contents): last = insert(contents, last.map { index($0) + 1 } ?? 0)
            }
        }
    }
}
