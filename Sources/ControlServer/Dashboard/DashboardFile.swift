/// A file of the dashboard, which is part of the program: there is no folder that a path could lead out of.
struct DashboardFile: Sendable {
    let bytes: [UInt8]
    let mediaType: String

    private static let all: [String: DashboardFile] = [
        "/": page(PackageResources.index_html), "/dashboard.css": style(PackageResources.dashboard_css),
        "/program.js": script(PackageResources.program_js), "/agent.js": script(PackageResources.agent_js),
        "/words.js": script(PackageResources.words_js), "/elements.js": script(PackageResources.elements_js),
        "/home.js": script(PackageResources.home_js), "/mesh.js": script(PackageResources.mesh_js),
        "/feed.js": script(PackageResources.feed_js), "/transfers.js": script(PackageResources.transfers_js),
        "/decisions.js": script(PackageResources.decisions_js), "/contents.js": script(PackageResources.contents_js),
        "/object.js": script(PackageResources.object_js), "/values.js": script(PackageResources.values_js),
        "/scroll.js": script(PackageResources.scroll_js), "/devices.js": script(PackageResources.devices_js),
        "/pairing.js": script(PackageResources.pairing_js), "/health.js": script(PackageResources.health_js),
    ]

    /// The page of a browser that is not signed in.
    static let signedOut = page(PackageResources.signed_out_html)

    static func named(_ path: String) -> DashboardFile? { all[path] }

    /// True for what the page of a browser that is not signed in needs.
    static func isPublic(_ path: String) -> Bool { path == "/dashboard.css" }

    private static func page(_ bytes: [UInt8]) -> DashboardFile {
        DashboardFile(bytes: bytes, mediaType: "text/html; charset=utf-8")
    }

    private static func style(_ bytes: [UInt8]) -> DashboardFile {
        DashboardFile(bytes: bytes, mediaType: "text/css; charset=utf-8")
    }

    private static func script(_ bytes: [UInt8]) -> DashboardFile {
        DashboardFile(bytes: bytes, mediaType: "text/javascript; charset=utf-8")
    }
}
