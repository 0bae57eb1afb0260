import ControlAPI
import HTTPTypes
import HummingbirdCore
import SyncAgent

/// States that applications computed from streams. Their bytes are read as those of attachments.
struct SnapshotRoutes: Sendable {
    let agent: Agent

    private static let ofStream = "/v1/spaces/{space}/streams/{stream}/snapshots"
    private static let consumer = "/v1/spaces/{space}/consumers/{consumer}"

    var routes: [Route] {
        [
            Route(.get, "/v1/spaces/{space}/snapshots", query: ["schema"]) { [agent] request throws(ControlError) in
                .json(
                    try await agent.snapshots(
                        space: try request.name(.space), stream: nil, schema: try request.snapshotSchema()))
            },
            Route(.get, Self.ofStream, query: ["schema"]) { [agent] request throws(ControlError) in
                .json(
                    try await agent.snapshots(
                        space: try request.name(.space), stream: try request.name(.stream),
                        schema: try request.snapshotSchema()))
            },
            Route(.post, Self.ofStream, query: ["consumer", "schema", "position", "keepMostRecent"]) {
                [agent] request throws(ControlError) in
                let receiver = try await agent.beginSnapshot(try request.snapshotDraft())
                return .json(
                    try await request.upload.pass(to: receiver) { () throws(ControlError) in
                        try await request.once { () throws(ControlError) in try await receiver.finish() }
                    })
            } admission: { [agent] request throws(ControlError) in
                try await agent.beginSnapshot(try request.snapshotDraft()).giveUp()
            },
            Route(.post, Self.consumer + "/restore") { [agent] request throws(ControlError) in
                let (space, consumer) = (try request.name(.space), try request.name(.consumer))
                let body = try await request.body(RestoreRequest.self)
                try NameRule.check(body.stream, is: .stream)
                return try await request.progressing { progress throws(ControlError) in
                    try await agent.beginRestoring(space: space, consumer: consumer, body, progress: progress)
                }
            },
            Route(.post, Self.consumer + "/restored") { [agent] request throws(ControlError) in
                let (space, consumer) = (try request.name(.space), try request.name(.consumer))
                let body = try await request.body(RestoredRequest.self)
                try NameRule.check(body.stream, is: .stream)
                return .json(try await agent.finishRestoring(space: space, consumer: consumer, body))
            },
        ]
    }
}

extension ControlRequest {
    fileprivate func snapshotSchema() throws(ControlError) -> Int64? {
        let range = ControlLimits.snapshotSchema
        return try optionalInteger("schema", in: Int(range.lowerBound)...Int(range.upperBound)).map(Int64.init)
    }

    fileprivate func snapshotDraft() throws(ControlError) -> SnapshotDraft {
        guard let consumer = try queryName(.consumer), let schema = try snapshotSchema() else {
            throw ControlError(
                .invalidArgument, "A snapshot needs \"consumer\" and \"schema\".",
                hint: "Say whose events the state holds, and in which version of its form.")
        }
        let size = request.headers[.contentLength].flatMap { UInt64($0) }
        if let size, size > ControlLimits.attachmentBytes { throw .attachmentTooLarge }
        return SnapshotDraft(
            space: try name(.space), stream: try name(.stream), consumer: consumer, schema: schema,
            position: try query["position"].map { text throws(ControlError) in try EventPosition(parsing: text) },
            keepMostRecent: try optionalInteger("keepMostRecent", in: ControlLimits.snapshotsKept),
            size: request.headers[.transferEncoding] == nil ? size : nil)
    }
}
