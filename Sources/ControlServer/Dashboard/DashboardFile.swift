import CPages

/// A file of the dashboard, which is part of the program: there is no folder that a path could lead out of.
struct DashboardFile: Sendable {
    let bytes: [UInt8]
    let mediaType: String

    private static let all: [String: DashboardFile] = [
        "/": page(lanyard_index_html), "/dashboard.css": style(lanyard_dashboard_css),
        "/program.js": script(lanyard_program_js), "/agent.js": script(lanyard_agent_js),
        "/words.js": script(lanyard_words_js), "/elements.js": script(lanyard_elements_js),
        "/home.js": script(lanyard_home_js), "/mesh.js": script(lanyard_mesh_js),
        "/feed.js": script(lanyard_feed_js), "/transfers.js": script(lanyard_transfers_js),
        "/decisions.js": script(lanyard_decisions_js), "/contents.js": script(lanyard_contents_js),
        "/object.js": script(lanyard_object_js), "/values.js": script(lanyard_values_js),
        "/scroll.js": script(lanyard_scroll_js), "/devices.js": script(lanyard_devices_js),
        "/pairing.js": script(lanyard_pairing_js), "/health.js": script(lanyard_health_js),
    ]

    /// The page of a browser that is not signed in.
    static let signedOut = page(lanyard_signed_out_html)

    static func named(_ path: String) -> DashboardFile? { all[path] }

    /// True for what the page of a browser that is not signed in needs.
    static func isPublic(_ path: String) -> Bool { path == "/dashboard.css" }

    private static func page(_ page: lanyard_page) -> DashboardFile {
        DashboardFile(bytes: page.copy, mediaType: "text/html; charset=utf-8")
    }

    private static func style(_ page: lanyard_page) -> DashboardFile {
        DashboardFile(bytes: page.copy, mediaType: "text/css; charset=utf-8")
    }

    private static func script(_ page: lanyard_page) -> DashboardFile {
        DashboardFile(bytes: page.copy, mediaType: "text/javascript; charset=utf-8")
    }
}
