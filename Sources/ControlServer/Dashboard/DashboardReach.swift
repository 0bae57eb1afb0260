import HTTPTypes

/// The routes that the dashboard may use. All others answer `404` there, as if they were not.
///
/// The page is for looking, and for the decisions that a person takes by looking: conflicts, devices, bytes of attachments.
/// It reads nothing that lets another device in by itself (tickets), nor this device's keys (backup), and it writes no
/// objects, events or schemas: applications do. So a browser that was taken over can do what the page can, and no more.
package enum DashboardReach {
    /// `METHOD path` of each, as in the OpenAPI document.
    package static let operations: [String] = [
        // What the page shows.
        "GET /v1/overview", "GET /v1/version", "GET /v1/why", "GET /v1/doctor", "GET /v1/logs", "GET /v1/spaces",
        "GET /v1/spaces/{space}/collections", object, object + "/history", object + "/blame", object + "/difference",
        "GET /v1/spaces/{space}/collections/{collection}/objects",
        "GET /v1/spaces/{space}/collections/{collection}/count", "GET /v1/spaces/{space}/deleted",
        "GET /v1/spaces/{space}/streams", "GET /v1/spaces/{space}/streams/{stream}/events",
        "GET /v1/spaces/{space}/attachments", "GET /v1/spaces/{space}/attachments/{attachment}",
        "GET /v1/spaces/{space}/attachments/{attachment}/content",
        // What a person decides.
        "POST /v1/spaces/{space}/collections/{collection}/objects/{id}/resolve",
        "POST /v1/spaces/{space}/devices/{device}/retirement", "PUT /v1/spaces/{space}/devices/{device}/block",
        "DELETE /v1/spaces/{space}/devices/{device}/block", "POST /v1/spaces/{space}/devices/{device}/revocation",
        "POST /v1/spaces/{space}/attachments/{attachment}/fetch",
        // Both sides of a pairing need a person at each device, who compares digits.
        "POST /v1/pairing", "PUT /v1/pairing/device", "PUT /v1/pairing/code",
    ]

    private static let object = "GET /v1/spaces/{space}/collections/{collection}/objects/{id}"

    private static let patterns: [(method: String, segments: [Substring])] = operations.map { operation in
        let parts = operation.split(separator: " ")
        return (String(parts[0]), parts[1].split(separator: "/", omittingEmptySubsequences: false))
    }

    static func admits(_ method: HTTPRequest.Method, _ path: String) -> Bool {
        let asked = path.split(separator: "/", omittingEmptySubsequences: false)
        return patterns.contains { pattern in
            pattern.method == method.rawValue && pattern.segments.count == asked.count
                && zip(pattern.segments, asked).allSatisfy { $0.first == "{" || $0 == $1 }
        }
    }
}
