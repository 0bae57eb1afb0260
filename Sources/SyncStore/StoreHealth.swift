/// The size of the store, and whether it takes writes.
package struct StoreHealth: Sendable, Hashable {
    package enum Condition: Sendable, Hashable {
        case ok
        case refusing(StoreError)
    }

    package let bytes: Int64
    package let condition: Condition

    package init(bytes: Int64, condition: Condition) {
        self.bytes = bytes
        self.condition = condition
    }
}
