import ControlAPI
import HTTPTypes
import HummingbirdCore
import SyncAgent

/// Queries whose results are kept up to date.
struct LiveRoutes: Sendable {
    private let queries: LiveQueries

    init(agent: Agent) { queries = LiveQueries(agent) }

    var routes: [Route] {
        [
            Route(
                .get, "/v1/spaces/{space}/collections/{collection}/live", query: ["reverse", "after", "limit"],
                repeated: ["where", "sort"]
            ) { [queries] request throws(ControlError) in
                let query = ObjectListQuery(
                    space: try request.name(.space), collection: try request.name(.collection),
                    condition: try request.objectCondition(), order: try request.listOrder(),
                    limit: try request.optionalInteger("limit", in: ControlLimits.pageEntries) ?? .max)
                // A browser's EventSource sends the last id it saw when it comes back.
                let after = try request.cursor() ?? request.request.headers[.lastEventID]
                // The first search is done before the answer begins, so that an error there has a status of its own.
                let reading = try await queries.begin(query, after: after)
                return request.stream(request.format == .lines ? .lines : .serverSentEvents) {
                    try await reading.write(to: &$0)
                }
            }
        ]
    }
}
