import Lanyard

/// Something to do. Each property is a field of its own: one device may change the title while another says that it is done.
struct Todo: LanyardObject {
    var id = ObjectID()
    var title = ""
    var done = false

    static var collection: String { "todos" }
}

/// The order of all to-dos: one object with the same id on every device.
///
/// A number in each `Todo` would not do. Two devices that move apart would write equal numbers, or numbers that make sense only
/// with others. In an ordered list a move is an edit of its own, and moves merge with each other and with additions.
struct TodoOrder: LanyardObject {
    var id: ObjectID = "order"
    @Ordered var todos: [ObjectID] = []

    static var collection: String { "todos.order" }
}

/// The list, as the agent on this machine has it. All of it works without a network: the agent keeps what is written, and
/// hands it over when it meets the others.
struct TodoList {
    private let home: Lanyard

    init() async throws { home = try await Lanyard.connect() }

    // MARK: Changing

    func add(_ title: String) async throws {
        let todo = Todo(title: title)
        var order = try await order()
        order.todos.append(todo.id)
        // One change: no device ever has one without the other.
        try await home.transaction { writes in
            try writes.save(todo)
            try writes.save(order)
        }
    }

    func setDone(_ title: String, _ done: Bool) async throws {
        var todo = try await find(title)
        todo.done = done
        try await home.save(todo)
    }

    /// Moves a to-do behind another one, or with nil to the top.
    func move(_ title: String, after other: String?) async throws {
        let todo = try await find(title)
        var order = try await order()
        order.todos.removeAll { $0 == todo.id }
        var index = 0
        if let other {
            let place = try await find(other).id
            index = order.todos.firstIndex(of: place).map { $0 + 1 } ?? order.todos.count
        }
        order.todos.insert(todo.id, at: index)
        // What is saved is the difference to what was read: this one move.
        try await home.save(order)
    }

    // MARK: Reading

    func todos() async throws -> [Todo] {
        try await Self.sorted(home.query(Todo.self).sorted(by: .created).all(), by: order())
    }

    /// Shows the list now, and again after each change of a to-do or of the order.
    func watch(_ show: @escaping @Sendable ([Todo]) -> Void) async throws {
        let screen = Screen(show)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for try await todos in home.query(Todo.self).sorted(by: .created).live() {
                    await screen.update(todos: todos)
                }
            }
            group.addTask {
                for try await orders in home.query(TodoOrder.self).live() {
                    await screen.update(order: orders.first ?? TodoOrder())
                }
            }
            try await group.waitForAll()
        }
    }

    private func order() async throws -> TodoOrder {
        try await home.object(TodoOrder.self, id: "order") ?? TodoOrder()
    }

    private func find(_ title: String) async throws -> Todo {
        if let todo = try await home.query(Todo.self).where(\.title == title).sorted(by: .created).first() {
            return todo
        }
        throw ControlError(.notFound, "There is no to-do called \(title).", hint: "See all with: todo list")
    }

    /// Returns the to-dos in their order. One that is not in it comes last, so that nothing is hidden.
    fileprivate static func sorted(_ todos: [Todo], by order: TodoOrder) -> [Todo] {
        let byID = Dictionary(uniqueKeysWithValues: todos.map { ($0.id, $0) })
        return order.todos.compactMap { byID[$0] } + todos.filter { !order.todos.contains($0.id) }
    }
}

/// The newest of two live results that are shown together.
private actor Screen {
    private var todos: [Todo]?
    private var order: TodoOrder?
    private let show: @Sendable ([Todo]) -> Void

    init(_ show: @escaping @Sendable ([Todo]) -> Void) { self.show = show }

    func update(todos: [Todo]? = nil, order: TodoOrder? = nil) {
        self.todos = todos ?? self.todos
        self.order = order ?? self.order
        guard let todos = self.todos, let order = self.order else { return }
        show(TodoList.sorted(todos, by: order))
    }
}
