/// The memory of an engine. No other reference to the cell may exist while its engine is changed: then no check of exclusive
/// access is needed at every keystroke, which would cost ten times what the keystroke costs.
final class TextCell {
    let engine: UnsafeMutablePointer<TextEngine>

    init() {
        engine = .allocate(capacity: 1)
        engine.initialize(to: TextEngine())
    }

    init(copying other: TextCell) {
        engine = .allocate(capacity: 1)
        // An argument of an initializer may end with its last use, and its memory with it.
        withExtendedLifetime(other) { engine.initialize(to: TextEngine(copying: other.engine.pointee)) }
    }

    /// Takes the engine out of another cell, which is left empty.
    init(taking other: TextCell) {
        engine = .allocate(capacity: 1)
        engine.initialize(to: TextEngine())
        withExtendedLifetime(other) { swap(&engine.pointee, &other.engine.pointee) }
    }

    deinit {
        engine.deinitialize(count: 1)
        engine.deallocate()
    }
}
