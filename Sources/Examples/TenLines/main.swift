import Lanyard

struct Todo: LanyardObject {
    var id = ObjectID(), title = "", done = false, tags: Set<String> = []
    @Counter var opened = 0
}

let home = try await Lanyard.connect()
try await home.save(Todo(title: "Milk"))
for try await todos in home.query(Todo.self).where(\.done == false).sorted(by: \.title).live() {
    print(todos.map(\.title).joined(separator: ", "))
}
