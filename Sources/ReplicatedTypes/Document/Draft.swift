/// A value being edited inside `Document.edit`: reading shows what was written so far, each edit is applied at once and
/// recorded in the change.
///
/// What can be written depends on the type of the value (`set`, `insert`, `increment`, …). What is nested has a draft of
/// its own: `draft["shopping"].insert("milk")`, and for members of a struct `draft.title.set("List")`. A draft ends with
/// its edit.
@dynamicMemberLookup
public struct Draft<Value: Replicated> {
    @usableFromInline let read: () -> Value
    @usableFromInline let write: (Value.Operation) -> Void
    @usableFromInline let current: () -> Origin

    /// Creates a draft that reads its value, and the origin of the next operation, where they are kept, and hands each
    /// operation to `write`.
    @inlinable
    package init(
        read: @escaping () -> Value, write: @escaping (Value.Operation) -> Void, current: @escaping () -> Origin
    ) {
        self.read = read
        self.write = write
        self.current = current
    }

    /// The value as it is after all edits so far. Do not keep it across an edit, or the edit copies it.
    @inlinable public var value: Value { read() }

    /// The origin of the next operation.
    @inlinable public var origin: Origin { current() }

    /// Applies an operation and records it. The typed edits are built on this.
    @inlinable
    public func record(_ operation: Value.Operation) { write(operation) }

    /// The draft of something inside this value: how to find it, and which operation edits it.
    @inlinable
    public func nested<Child: Replicated>(
        _ find: @escaping (Value) -> Child, _ wrap: @escaping (Child.Operation) -> Value.Operation
    ) -> Draft<Child> {
        Draft<Child>(
            read: { [read] in find(read()) }, write: { [write] in write(wrap($0)) }, current: current)
    }

    /// The draft of a member.
    public subscript<Member: Replicated>(
        dynamicMember path: WritableKeyPath<Value, Member>
    ) -> Draft<Member> where Value: ReplicatedStruct {
        nested({ $0[keyPath: path] }, { Value.members.operation($0, on: path) })
    }

    /// The draft of a member, also of one that is named like a property of the draft.
    public subscript<Member: Replicated>(_ path: WritableKeyPath<Value, Member>) -> Draft<Member>
    where Value: ReplicatedStruct { self[dynamicMember: path] }
}

/// The state that all drafts of one edit share.
final class DraftRoot<Value: Replicated> {
    private(set) var value: Value
    private(set) var operations: [Value.Operation] = []
    private(set) var count: UInt64 = 0
    private var origin: Origin
    private var isOpen = true

    init(_ value: Value, at origin: Origin) {
        self.value = value
        self.origin = origin
    }

    var draft: Draft<Value> {
        Draft(read: { self.value }, write: { self.record($0) }, current: { self.origin })
    }

    func close() { isOpen = false }

    private func record(_ operation: Value.Operation) {
        precondition(isOpen, "a draft was used after its edit")
        value.apply(operation, at: origin)
        let span = Value.span(of: operation)
        origin = origin.advanced(by: span)
        count += span
        operations.append(operation)
    }
}
