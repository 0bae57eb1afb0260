import ControlAPI
import HTTPTypes
import HummingbirdCore
import SyncAgent

/// The route for all that the dashboard shows at once, kept up to date.
struct OverviewRoutes: Sendable {
    let agent: Agent

    var routes: [Route] {
        [
            Route(.get, "/v1/overview") { [agent] request throws(ControlError) in
                let versions = agent.overviewVersions
                let first = try await agent.overview()
                guard request.format != .page else { return .json(first) }
                let stream = OverviewStream(agent: agent)
                return request.stream(request.format == .lines ? .lines : .serverSentEvents) {
                    try await stream.write(first, versions, to: &$0)
                }
            }
        ]
    }
}

/// The overview as a reader follows it: a line for each part that differs from the one that was written last.
///
/// Nothing is computed while no reader is there. One that is costs little while nothing happens: the parts that change
/// without a signal, such as the free bytes of the disk, are looked at every ten seconds.
private struct OverviewStream: Sendable {
    let agent: Agent

    /// A person sees no faster changes, and an import makes thousands a second.
    private static let shortestPause = Duration.milliseconds(400)
    private static let longestPause = Duration.seconds(10)
    /// A look takes at most this share of one processor, however many peers and changes there are.
    private static let pausesPerLook = 10

    func write(
        _ first: Overview, _ firstVersions: Agent.OverviewVersions, to writer: inout StreamWriter
    ) async throws {
        let clock = ContinuousClock()
        var (now, versions) = (first, firstVersions)
        var written: [String: [UInt8]] = [:]
        var position: UInt64?
        while true {
            let news = now.parts.filter { part in
                // Changes are told once, not as a state; the first line of them may be empty.
                part.key == "changes" && position != nil ? !now.changes.isEmpty : written[part.key] != part.line
            }
            if !news.isEmpty { try await writer.write(news.map(\.line)) }
            for part in news { written[part.key] = part.line }
            position = now.changes.last?.position ?? position ?? 0
            let looked = clock.now
            await agent.waitForNews(since: versions, patience: Self.longestPause)
            if Task.isCancelled || agent.peerSignal.isFinished { return }
            let begin = clock.now
            let before = versions
            versions = agent.overviewVersions
            let isSame = versions.objects == before.objects
            now = try await agent.overview(after: position, keeping: isSame ? now.conflicts : nil)
            let pause = max(Self.shortestPause, (clock.now - begin) * Self.pausesPerLook) - (begin - looked)
            if pause > .zero { try await Task.sleep(for: pause) }
        }
    }
}
