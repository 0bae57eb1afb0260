/// A durable cursor in a stream.
package struct Consumer: Sendable, Hashable {
    package let name: String
    package let stream: String
    /// Everything up to here was acknowledged.
    package let position: Int64
    /// Everything up to here was handed out at least once.
    package let delivered: Int64

    package init(name: String, stream: String, position: Int64, delivered: Int64) {
        self.name = name
        self.stream = stream
        self.position = position
        self.delivered = delivered
    }
}

extension Consumer {
    /// The cursor after an acknowledgement. Beyond the newest event there is nothing to acknowledge: a cursor put there
    /// would skip events that are still to come.
    func acknowledging(_ position: Int64, newest: Int64, rewinding: Bool) -> Consumer {
        let bounded = min(max(position, 0), newest)
        let moved = rewinding ? bounded : max(bounded, self.position)
        return Consumer(name: name, stream: stream, position: moved, delivered: max(delivered, moved))
    }

    func delivering(_ position: Int64, newest: Int64) -> Consumer {
        Consumer(
            name: name, stream: stream, position: self.position, delivered: max(delivered, min(position, newest)))
    }
}
