import EndsModel
import Testing

@Suite struct FinalityTests {
    /// Larger meshes take longer: `ends-model roles finality` visits them.
    private static let quick = Roles.FinalityWorld.Setting.all.filter {
        $0.setting.honest == 2 && !($0.setting.hasAccomplice && $0.setting.hasNewcomer) || $0.setting.mayDie
    }

    @Test(arguments: quick.filter { $0.setting.intake == .firstAcknowledgements })
    func `what is final stays, and all members come to one result`(name: String, setting: Roles.FinalityWorld.Setting) {
        let (worlds, fault, trace) = Roles.FinalityWorld.explore(setting)
        #expect(worlds > 10_000, "\(name)")
        #expect(fault == nil, "\(name): \(fault ?? "")\n\(trace.map(\.description).joined(separator: "\n"))")
    }

    @Test(arguments: quick.filter { $0.setting.intake != .firstAcknowledgements })
    func `a rule that does not stand is broken by some order`(name: String, setting: Roles.FinalityWorld.Setting) {
        #expect(Roles.FinalityWorld.explore(setting).fault != nil, "\(name)")
    }

    @Test func `each rule that does not stand has a mesh that breaks it`() {
        let broken = Set(Self.quick.map(\.setting.intake))
        #expect(broken == Set(Roles.FinalityWorld.Intake.allCases))
    }
}
