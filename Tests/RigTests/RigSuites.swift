import Testing

/// All suites that need the rig: one after the other, since their times are measured, and only where somebody said so,
/// since they need root.
@Suite(
    .serialized, .enabled(if: Rig.isWanted, "needs root and namespaces: run deploy/test --only rig"))
enum RigSuites {}
