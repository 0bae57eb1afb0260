import ControlAPI
package import HTTPTypes
package import HummingbirdCore
package import NIOCore

/// The rule by which the dashboard answers a request.
///
/// Every page on the web can have a browser send requests to this device. Such a request names another site in `Origin` or
/// `Sec-Fetch-Site`; or, where a name was bound to our address (DNS rebinding), that name in `Host`. It gets no content. A
/// request of our own page, or one that a person typed, needs the cookie of a browser that is signed in. One that changes
/// something also needs `Origin` and a header that a form and a picture cannot send.
package struct DashboardGate: Sendable {
    package enum Verdict: Sendable, Equatable {
        /// The request is not of our page, or not one that the page sends: a status without content.
        case refused(HTTPResponse.Status)
        /// A browser that shows a token, and has no cookie yet.
        case signsIn(token: String)
        /// A browser without a cookie asks for a page.
        case signedOut
        /// A browser that is signed in, and shows a token: it is used up, since it may stand where others can read it.
        case isSignedIn(token: String)
        case file(String)
        case route
    }

    /// The header that our page sends with every change.
    package static let changeHeader = "Lanyard-Dashboard"
    /// The length of a body, in bytes: a value of a conflict, and room for the keys around it.
    static let bodyBytes = ControlLimits.bodyBytes

    private let access: DashboardAccess

    package init(access: DashboardAccess) { self.access = access }

    /// Returns the verdict on a request that came in at `local`, our end of its connection.
    package func verdict(on request: Request, at local: SocketAddress?) -> Verdict {
        guard let authority = request.head.authority?.lowercased(), isOurs(authority, local) else {
            return .refused(.misdirectedRequest)
        }
        if let status = refusal(of: request, authority) { return .refused(status) }
        let isSignedIn = cookies(of: request).contains { access.admits($0) }
        let path = request.uri.path
        if path.hasPrefix("/v1/") {
            guard isSignedIn else { return .refused(.unauthorized) }
            return DashboardReach.admits(request.method, path) ? .route : .refused(.notFound)
        }
        guard request.method == .get else { return .refused(.methodNotAllowed) }
        if path == "/", let token = request.uri.queryParameters["token"] {
            return isSignedIn ? .isSignedIn(token: String(token)) : .signsIn(token: String(token))
        }
        guard DashboardFile.named(path) != nil else { return .refused(.notFound) }
        guard isSignedIn || DashboardFile.isPublic(path) else {
            return path == "/" ? .signedOut : .refused(.unauthorized)
        }
        return .file(path)
    }

    /// Returns the refusal of a request that comes from elsewhere, or has a form that our page's requests do not have.
    private func refusal(of request: Request, _ authority: String) -> HTTPResponse.Status? {
        let origin = request.headers[.origin]?.lowercased()
        let site = request.headers[.secFetchSite]
        guard origin == nil || origin == "http://\(authority)" else { return .forbidden }
        if request.method == .get {
            return site == nil || site == "same-origin" || site == "none" ? nil : .forbidden
        }
        guard site == nil || site == "same-origin", origin != nil, request.headers[.dashboardChange] == "1" else {
            return .forbidden
        }
        guard request.headers[.transferEncoding] == nil else { return .lengthRequired }
        let length = request.headers[.contentLength].map { Int($0) ?? .max } ?? 0
        return length <= Self.bodyBytes ? nil : .contentTooLarge
    }

    /// True if a host of this name can only be us: the name that was configured, or the address at which the connection came in.
    ///
    /// The port may be another one, as behind `ssh -L`: no other site can choose the name.
    private func isOurs(_ authority: String, _ local: SocketAddress?) -> Bool {
        guard let name = Self.hostName(authority) else { return false }
        if name == access.host.lowercased(), !Self.isAny(name) { return true }
        // IPv4 on a socket for both (RFC 4291, section 2.5.5.2).
        let address = local?.ipAddress.map { $0.hasPrefix("::ffff:") ? String($0.dropFirst(7)) : $0 }
        guard let address else { return false }
        let isLoopback = address == "::1" || address.hasPrefix("127.")
        return name == address || isLoopback && ["localhost", "127.0.0.1", "::1"].contains(name)
    }

    /// Returns the host of `HOST`, `HOST:PORT`, `[IPV6]` or `[IPV6]:PORT`; nil for anything else.
    static func hostName(_ authority: String) -> String? {
        if authority.hasPrefix("[") {
            guard let end = authority.firstIndex(of: "]") else { return nil }
            let rest = authority[authority.index(after: end)...]
            guard rest.isEmpty || rest.hasPrefix(":") && UInt16(rest.dropFirst()) != nil else { return nil }
            return String(authority[authority.index(after: authority.startIndex)..<end])
        }
        let parts = authority.split(separator: ":", omittingEmptySubsequences: false)
        guard let name = parts.first, !name.isEmpty, parts.count == 1 || parts.count == 2 && UInt16(parts[1]) != nil
        else { return nil }
        return String(name)
    }

    /// True for an address that stands for all interfaces.
    static func isAny(_ host: String) -> Bool { ["0.0.0.0", "::"].contains(host) }

    /// The values of our cookie. A browser may send several under one name (RFC 6265, section 5.4).
    private func cookies(of request: Request) -> [String] {
        request.headers[values: .cookie].flatMap { $0.split(separator: ";") }.compactMap { pair in
            let pair = pair.drop { $0 == " " }
            guard pair.hasPrefix(access.cookieName + "=") else { return nil }
            return String(pair.dropFirst(access.cookieName.count + 1))
        }
    }
}

extension HTTPField.Name {
    static let secFetchSite = HTTPField.Name("Sec-Fetch-Site")!
    static let dashboardChange = HTTPField.Name(DashboardGate.changeHeader)!
}
