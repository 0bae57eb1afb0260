import ControlAPI
import Foundation
import LanyardClient
import Testing

@Suite(.timeLimit(.minutes(20))) struct SchemaConversionTests {
    private func lanyard(_ server: LiveServer, _ arguments: String...) async throws -> CommandRun {
        try await CommandRun.lanyard(arguments, socket: server.socketPath)
    }

    @Test func `types are set by words`() async throws {
        try await LiveServer.with { server async throws in
            let run = try await lanyard(server, "schema", "set", "task", "tags=set", "plays=counter", "--json")
            #expect(run.exitCode == 0)
            let schema = try await server.client.schema(of: "task")
            #expect(schema.fields.map(\.name).sorted() == ["plays", "tags"])
            let unknown = try await lanyard(server, "schema", "set", "task", "tags=graph", "--json")
            #expect(unknown.exitCode == 1)
            #expect(unknown.errors.contains("schema_invalid"))
            #expect(try await lanyard(server, "schema", "set", "task", "tags=set", "plays", "--json").exitCode == 2)
        }
    }

    @Test func `a conversion is shown, and done when it is wanted`() async throws {
        try await LiveServer.with { server async throws in
            try await server.live.put("task/milk", #"{"tags":["a","b","a"]}"#)
            try await server.live.put("task/oats", #"{"tags":["c"]}"#)
            let run = try await lanyard(server, "schema", "set", "task", "tags=set", "--yes")
            #expect(run.exitCode == 0)
            #expect(
                run.errors.contains(
                    "tags: list → set in 2 objects, such as task/milk. In 1 of them an element stands twice; it stays once."
                ), "\(run.errors)")
            let milk = try await server.client.object(try ObjectName(parsing: "task/milk")).fields
            #expect(milk.means(try JSONText(#"{"tags":["a","b"]}"#)))
        }
    }
}
