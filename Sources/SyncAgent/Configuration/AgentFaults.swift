/// Planted bugs of what an agent does beside its core: each is a switch in the code that ships. Worlds of the simulator do not reach
/// them; the tests of live agents find them.
package struct AgentFaults: OptionSet, Sendable, Hashable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The key of daily tags stays after a revocation.
    package static let forgetTag = AgentFaults(rawValue: 1 << 0)
}
