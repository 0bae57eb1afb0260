import ControlAPI
import HTTPTypes
import HummingbirdCore
import NIOCore
import SyncAgent

/// Attachments: what is said of them, and their bytes, which are never held in memory.
struct AttachmentRoutes: Sendable {
    let agent: Agent

    private static let ofObject = ObjectRoutes.object + "/attachments"
    private static let all = "/v1/spaces/{space}/attachments"
    private static let one = all + "/{attachment}"

    var routes: [Route] {
        [
            Route(.post, Self.ofObject, query: ["name", "type", "from"]) { [agent] request throws(ControlError) in
                let receiver = try await agent.beginAttaching(try request.attachmentDraft())
                return .json(
                    try await request.upload.pass(to: receiver) { () throws(ControlError) in
                        try await request.once { () throws(ControlError) in try await receiver.finish() }
                    })
            } admission: { [agent] request throws(ControlError) in
                // What has no room, or no object, is refused before the client sends a byte of it.
                try await agent.beginAttaching(try request.attachmentDraft()).giveUp()
            },
            Route(.get, Self.ofObject, query: ["after", "limit"]) { [agent] request throws(ControlError) in
                let (space, owner) = (try request.name(.space), try request.objectName())
                return try await Self.list(request, agent, space, owner)
            },
            Route(.get, Self.all, query: ["after", "limit"]) { [agent] request throws(ControlError) in
                try await Self.list(request, agent, try request.name(.space), nil)
            },
            Route(.get, Self.one) { [agent] request throws(ControlError) in
                .json(try await agent.attachment(space: try request.name(.space), id: request.attachmentID))
            },
            Route(.delete, Self.one) { [agent] request throws(ControlError) in
                let (space, id) = (try request.name(.space), request.attachmentID)
                let detached = try await request.once { () throws(ControlError) in
                    try await agent.detach(space: space, id: id)
                }
                return .json(DetachedResponse(detached: detached))
            },
            Route(.get, Self.one + "/content") { [agent] request throws(ControlError) in
                let reading = try await agent.openAttachment(
                    space: try request.name(.space), id: request.attachmentID)
                return try await AttachmentAnswer(reading).response()
            },
            Route(.post, Self.one + "/fetch") { [agent] request throws(ControlError) in
                let (space, id) = (try request.name(.space), request.attachmentID)
                // What is named wrongly has a status of its own, also where the answer is a stream.
                _ = try await agent.attachment(space: space, id: id)
                return try await request.progressing { progress throws(ControlError) in
                    try await agent.fetch(space: space, id: id, progress: progress)
                }
            },
            Route(.put, Self.one + "/pin") { [agent] request throws(ControlError) in
                .json(try await agent.pin(space: try request.name(.space), id: request.attachmentID, true))
            },
            Route(.delete, Self.one + "/pin") { [agent] request throws(ControlError) in
                .json(try await agent.pin(space: try request.name(.space), id: request.attachmentID, false))
            },
        ]
    }

    private static func list(
        _ request: ControlRequest, _ agent: Agent, _ space: String, _ owner: ObjectName?
    ) async throws(ControlError) -> Response {
        try await PageReading(request: request) { after, limit throws(ControlError) in
            try await agent.listAttachments(
                AttachmentListQuery(space: space, owner: owner, after: after, limit: limit))
        }.response()
    }
}

extension AttachmentEntry: PageEntry {}

extension ControlRequest {
    /// An id, or a beginning of one: no name that anybody chose.
    fileprivate var attachmentID: String { parameters["attachment"] ?? "" }

    fileprivate func attachmentDraft() throws(ControlError) -> AttachmentDraft {
        let name = query["name"] ?? ""
        try ControlError.checkAttachmentName(name)
        let size = request.headers[.contentLength].flatMap { UInt64($0) }
        if let size, size > ControlLimits.attachmentBytes { throw .attachmentTooLarge }
        return AttachmentDraft(
            space: try self.name(.space), owner: try objectName(), name: name, mediaType: query["type"],
            size: request.headers[.transferEncoding] == nil ? size : nil, from: query["from"])
    }
}
