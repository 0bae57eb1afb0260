import Glibc
import HTTPTypes
import HummingbirdCore
import Lanyard
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

/// A small HTTP server for the browser on this machine. It listens on 127.0.0.1 alone.
struct PageServer: Sendable {
    private let routes: Routes
    private let port: Int

    init(_ notebook: Notebook, port: Int) {
        routes = Routes(notebook)
        self.port = port
    }

    /// Serves until the task is cancelled.
    ///
    /// - Parameter onListening: called once, when a browser can connect.
    func run(onListening: @escaping @Sendable () -> Void) async throws {
        let guarding = RequestGuard(port: port)
        let channel = HTTP1Channel(responder: { [routes] request, writer, _ in
            let response: Response
            if let refusal = guarding.refusal(of: request) {
                response = refusal
            } else {
                response = await routes.respond(to: request)
            }
            try await writer.write(response: response.head, body: response.body)
        })
        var logger = Logger(label: "notes")
        logger.logLevel = .warning
        let server = channel.server(
            configuration: ServerConfiguration(address: .hostname("127.0.0.1", port: port)),
            onServerRunning: { _ in onListening() }, eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
            logger: logger)
        do {
            try await server.run()
        } catch let error as IOError where error.errnoCode == EADDRINUSE {
            throw ControlError(
                .invalidArgument, "Port \(port) is taken on this machine.", hint: "Choose another one with --port.")
        }
    }
}

/// The rule by which requests are answered: only those of our own page.
///
/// Every page on the web can have a browser send requests to 127.0.0.1. Such a request names another site in `Origin` or
/// `Sec-Fetch-Site`; or, where a name was bound to 127.0.0.1 (DNS rebinding), that name in `Host`.
struct RequestGuard: Sendable {
    private let hosts: Set<String>

    init(port: Int) { hosts = ["127.0.0.1:\(port)", "localhost:\(port)"] }

    /// Returns the answer to a request that is refused; nil for one of our page.
    func refusal(of request: Request) -> Response? {
        guard let host = request.head.authority, hosts.contains(host.lowercased()) else {
            return .failure(.forbidden, "Open the page by its address on this machine.")
        }
        let origin = request.headers[.origin]
        let site = request.headers[.secFetchSite]
        let isOwn = (origin == nil || origin == "http://\(host)") && (site == nil || site == "same-origin")
        switch request.method {
        // The page itself may be opened from anywhere, such as by a bookmark or a link.
        case .get where request.uri.path == "/" && origin == nil: return nil
        case .get where isOwn || site == "none": return nil
        case .post where isOwn && origin != nil: return nil
        case _: return .failure(.forbidden, "Only the page itself is answered.")
        }
    }
}

extension HTTPField.Name {
    static let secFetchSite = HTTPField.Name("Sec-Fetch-Site")!
    static let crossOriginResourcePolicy = HTTPField.Name("Cross-Origin-Resource-Policy")!
    static let crossOriginOpenerPolicy = HTTPField.Name("Cross-Origin-Opener-Policy")!
    static let referrerPolicy = HTTPField.Name("Referrer-Policy")!
}
