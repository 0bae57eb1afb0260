import Testing

extension RigSuites {
    /// What people do with several machines, told as they would tell it. One rig of three nodes for all; each story has
    /// collections of its own. The files beside this one hold them.
    @Suite(.rig(3)) struct Stories {}

    /// Those in which a clock is wrong. A rig of their own: an agent with a shifted clock runs under libfaketime.
    @Suite(.rig(3)) struct ClockStories {}
}
