import ArgumentParser
import ControlAPI
import LanyardClient

/// What a shell offers for words that only the agent knows: names of collections, objects, streams, consumers and devices.
/// Without an agent it offers nothing.
enum Completions {
    /// A shell lists no more than people read.
    private static let mostObjects = 200

    static let collections = CompletionKind.custom { words, _, _ in
        await answer(words) { client, space, _ in try await client.collections(space: space).map(\.name) }
    }

    /// Collections up to the slash, then the objects of that one.
    static let objects = CompletionKind.custom { words, _, prefix in
        await answer(words, prefix) { client, space, prefix in
            guard let slash = prefix.firstIndex(of: "/") else {
                return try await client.collections(space: space).map { "\($0.name)/" }
            }
            let collection = String(prefix[..<slash])
            var names: [String] = []
            try await client.listObjects(collection, limit: mostObjects, space: space) { objects in
                names += objects.map { "\(collection)/\($0.id)" }
            }
            return names
        }
    }

    static let streams = CompletionKind.custom { words, _, _ in
        await answer(words) { client, space, _ in try await client.streams(space: space).map(\.name) }
    }

    static let consumers = CompletionKind.custom { words, _, _ in
        await answer(words) { client, space, _ in try await client.consumers(space: space).map(\.name) }
    }

    static let devices = CompletionKind.custom { words, _, _ in
        await answer(words) { client, space, _ in try await client.devices(space: space).map(\.name) }
    }

    /// Devices that are seen, paired or not.
    static let peers = CompletionKind.custom { words, _, _ in
        await answer(words) { client, _, _ in try await client.peers().map(\.name) }
    }

    private static func answer(
        _ words: [String], _ prefix: String = "",
        _ body: (LanyardClient, String, String) async throws -> [String]
    ) async -> [String] {
        let location = SocketLocation(socket: value("--socket", words), dataDirectory: value("--data-dir", words))
        guard let client = try? LanyardClient.find(location) else { return [] }
        let names = (try? await body(client, value("--space", words) ?? "home", prefix)) ?? []
        // What a terminal would obey, or a shell take for two words, is not offered.
        return names.filter { TerminalText.line($0) == $0 }
    }

    private static func value(_ option: String, _ words: [String]) -> String? {
        for (index, word) in words.enumerated() {
            if word.hasPrefix("\(option)=") { return String(word.dropFirst(option.count + 1)) }
            if word == option, index + 1 < words.count { return words[index + 1] }
        }
        return nil
    }
}
