import SyncCore
import SyncModel
import SyncSimulator
import Testing

/// The members that have acknowledged that a device was let go, and those that have not.
@Suite struct DepartureTests {
    @Test func `a member is waited for until it has acknowledged the retirement`() throws {
        var mesh = try Mesh(4)
        for other in 1..<4 { try mesh.pair(0, other) }
        mesh.pass(seconds: 200)
        #expect(mesh.nodes.allSatisfy { $0.core.departures.isEmpty })
        let ids = mesh.nodes.map(\.device.id)
        func expect(
            _ nodes: [Int], heard: [Int], waitingFor: [Int], sourceLocation: SourceLocation = #_sourceLocation
        ) {
            let view = DepartureView(
                device: ids[2], heard: heard.map { ids[$0] }.sorted(), waitingFor: waitingFor.map { ids[$0] }.sorted())
            for node in nodes {
                #expect(mesh.nodes[node].core.departures == [view], "node \(node)", sourceLocation: sourceLocation)
            }
        }
        mesh.disconnect(2)
        mesh.disconnect(3)
        try mesh.retire(0, 2)
        mesh.pass(seconds: 300)
        expect([0, 1], heard: [0, 1], waitingFor: [3])
        mesh.connect(0, 3)
        mesh.pass(seconds: 300)
        expect([0, 1, 3], heard: [0, 1, 3], waitingFor: [])
        // It comes back by itself, and is a member as before.
        mesh.connect(0, 2)
        mesh.pass(seconds: 300)
        #expect(mesh.nodes.allSatisfy { $0.core.departures.isEmpty })
    }
}
