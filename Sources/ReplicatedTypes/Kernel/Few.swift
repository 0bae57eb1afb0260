/// A list that nearly always holds one element, which then lives inline: no heap for the usual register or element.
///
/// Invariant: `many` holds two or more, so equal lists are equal cases.
enum Few<Element> {
    case none
    case one(Element)
    case many([Element])

    init() { self = .none }

    init(_ elements: [Element]) {
        switch elements.count {
        case 0: self = .none
        case 1: self = .one(elements[0])
        case _: self = .many(elements)
        }
    }

    mutating func insert(_ element: Element, at index: Int) {
        if let only = takeOnly() {
            self = .many(index == 0 ? [element, only] : [only, element])
        } else if var elements = takeMany() {
            elements.insert(element, at: index)
            self = .many(elements)
        } else {
            self = .one(element)
        }
    }

    mutating func append(_ element: Element) { insert(element, at: count) }

    /// Changes an element where it is: while it is changed nothing else refers to what it holds, so that is not copied.
    mutating func update(at index: Int, _ change: (inout Element) -> Void) {
        if var only = takeOnly() {
            precondition(index == 0, "an index beyond a list of one")
            change(&only)
            self = .one(only)
        } else if var elements = takeMany() {
            change(&elements[index])
            self = .many(elements)
        } else {
            preconditionFailure("an index into an empty list")
        }
    }

    // Functions of their own, never inlined: a `switch` holds what it looks at, for as long as the optimizer likes.
    // Behind a return there is one reference, the returned one.

    @inline(never) private mutating func takeOnly() -> Element? {
        guard case .one(let only) = self else { return nil }
        self = .none
        return only
    }

    @inline(never) private mutating func takeMany() -> [Element]? {
        guard case .many(let elements) = self else { return nil }
        self = .none
        return elements
    }

    mutating func removeAll(where isRemoved: (Element) -> Bool) {
        switch self {
        case .none: return
        case .one(let only): if isRemoved(only) { self = .none }
        case .many(let elements):
            guard elements.contains(where: isRemoved) else { return }
            self = Few(elements.filter { !isRemoved($0) })
        }
    }
}

extension Few: RandomAccessCollection {
    var startIndex: Int { 0 }

    var endIndex: Int {
        switch self {
        case .none: 0
        case .one: 1
        case .many(let elements): elements.count
        }
    }

    subscript(index: Int) -> Element {
        switch self {
        case .none: preconditionFailure("an index into an empty list")
        case .one(let only):
            precondition(index == 0, "an index beyond a list of one")
            return only
        case .many(let elements): return elements[index]
        }
    }
}

extension Few: Equatable where Element: Equatable {}
extension Few: Hashable where Element: Hashable {}
extension Few: Sendable where Element: Sendable {}
