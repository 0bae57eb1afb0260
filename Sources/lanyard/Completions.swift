import ArgumentParser
import ControlAPI
import LanyardClient

/// The shell completions of words that only the agent knows: names and ids of objects, attachments, streams, devices and more.
/// Without an agent there are none.
enum Completions {
    /// A shell lists no more than people read.
    private static let mostEntries = 200

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
            try await client.listObjects(collection, limit: mostEntries, space: space) { objects in
                names += objects.map { "\(collection)/\($0.id)" }
            }
            return names
        }
    }

    /// Ids of attachments, the newest first: as tables show them, or whole once more than that is typed.
    static let attachments = CompletionKind.custom { words, _, prefix in
        await answer(words, prefix) { client, space, prefix in
            var ids: [String] = []
            try await client.listAttachments(limit: mostEntries, space: space) { page in
                let isLong = prefix.count > AttachmentText.idCharacters
                ids += page.map { isLong ? $0.record.id : AttachmentText.shortID($0) }
            }
            return ids
        }
    }

    static let snapshots = CompletionKind.custom { words, _, _ in
        await answer(words) { client, space, _ in
            try await client.snapshots(space: space).prefix(mostEntries).map { String($0.id.prefix(8)) }
        }
    }

    static let spaces = CompletionKind.custom { words, _, _ in
        await answer(words) { client, _, _ in try await client.spaces().map(\.name) }
    }

    /// Addresses that a person added.
    static let addresses = CompletionKind.custom { words, _, _ in
        await answer(words) { client, _, _ in
            try await client.peers().filter { $0.via == .static }.compactMap(\.address)
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
