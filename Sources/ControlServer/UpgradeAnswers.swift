import ControlAPI
import HTTPTypes
import HummingbirdCore
import Logging
import SyncAgent
import Synchronization

/// The answers of the control API while the store of an older program is upgraded: how far it is, reads once the store can be
/// read, and for all else the advice to ask again.
final class UpgradeAnswers: Sendable {
    private struct State {
        var upgrade: AgentUpgrade?
        /// The routes, once there is a store to read.
        var reader: ControlResponder?
    }

    private let state = Mutex(State())
    private let began = ContinuousClock.now
    private let logger: Logger

    init(logger: Logger) { self.logger = logger }

    func record(_ upgrade: AgentUpgrade) {
        state.withLock { state in
            state.upgrade = upgrade
            guard state.reader == nil, let agent = upgrade.agent else { return }
            state.reader = ControlResponder(agent: agent, logger: logger) { route, request throws(ControlError) in
                guard Self.isRead(route, request) else { throw .upgrading(self.share) }
            }
        }
    }

    private var share: Double? { state.withLock { $0.upgrade?.share } }

    /// The reads of the store alone. What peers and the space's progress are about needs the agent's loop; what follows a stream,
    /// or moves a consumer, waits for the agent.
    static let reads: Set<String> = [
        "/v1/spaces/{space}/collections", "/v1/spaces/{space}/schemas", "/v1/spaces/{space}/deleted",
        "/v1/spaces/{space}/conflicts", "/v1/spaces/{space}/attachments", "/v1/spaces/{space}/attachments/{attachment}",
        "/v1/spaces/{space}/attachments/{attachment}/content", "/v1/spaces/{space}/snapshots",
        "/v1/spaces/{space}/consumers", "/v1/spaces/{space}/streams/{stream}/events",
        "/v1/spaces/{space}/streams/{stream}/snapshots", "/v1/spaces/{space}/collections/{collection}/schema",
        "/v1/spaces/{space}/collections/{collection}/count", ObjectRoutes.objects, ObjectRoutes.object,
        ObjectRoutes.object + "/history", ObjectRoutes.object + "/blame", ObjectRoutes.object + "/difference",
        ObjectRoutes.object + "/attachments",
    ]

    private static func isRead(_ route: Route, _ request: ControlRequest) -> Bool {
        route.method == .get && reads.contains(route.path)
            && ["follow", "consumer"].allSatisfy { request.query[$0] == nil }
    }

    /// Answers one request. The connection is closed afterwards, so that the next one meets the agent.
    func respond(
        to request: Request, upload: RequestUpload, over origin: ControlRequest.Origin
    ) async -> Response {
        var response = await answer(request, upload, origin)
        response.headers[.connection] = "close"
        if response.status == .serviceUnavailable { response.headers[.retryAfter] = "1" }
        return response
    }

    private func answer(
        _ request: Request, _ upload: RequestUpload, _ origin: ControlRequest.Origin
    ) async -> Response {
        let (upgrade, reader) = state.withLock { ($0.upgrade, $0.reader) }
        if request.method == .get, request.headers[.origin] == nil {
            switch request.uri.path {
            case "/healthz": return .json(Health())
            case "/readyz":
                return .json(
                    Readiness(ready: false, waitingFor: ["upgrade"], discovery: .off), status: .serviceUnavailable)
            case "/v1/version": return .json(VersionResponse())
            case "/v1/openapi.json": return .json(bytes: OpenAPIDocument.bytes)
            case "/v1/status":
                if let upgrade { return .json(status(upgrade)) }
            case _: break
            }
        }
        guard let reader else { return .failure(.upgrading(upgrade?.share)) }
        return await reader.respond(to: request, upload: upload, over: origin)
    }

    private func status(_ upgrade: AgentUpgrade) -> StatusResponse {
        let seconds = Int((ContinuousClock.now - began).components.seconds)
        return StatusResponse(
            device: .init(id: upgrade.device, shortID: upgrade.shortID, name: upgrade.name), version: upgrade.version,
            uptimeSeconds: seconds, discovery: .init(state: .off, instance: nil), spaces: [],
            peers: .init(connected: 0, discovered: 0, paired: 0),
            store: .init(bytes: 0, state: ErrorCode.upgrading.rawValue),
            warnings: [
                .init(
                    code: ErrorCode.upgrading.rawValue, message: ControlError.upgrading(upgrade.share).message,
                    hint: ControlError.upgrading(upgrade.share).hint)
            ], upgrade: .init(share: upgrade.share, answersReads: upgrade.agent != nil))
    }
}

extension ControlError {
    /// - Parameter share: the share of the upgrade that is done, from 0 to 1; nil if it is not known.
    static func upgrading(_ share: Double?) -> ControlError {
        ControlError(
            .upgrading,
            "The store of an older version is being upgraded\(share.map { ": \(Int($0 * 100)) % done" } ?? "").",
            hint: "Try again in a moment; `lanyard status` shows how far it is. Nothing is lost if it is interrupted.")
    }
}
