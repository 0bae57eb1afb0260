import HTTPTypes
import HummingbirdCore
import NIOCore

extension Response {
    /// The page runs and shows nothing that the agent does not serve.
    private static let pagePolicy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
        + "frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
    /// An answer that is data is no page, wherever a browser shows it.
    private static let dataPolicy = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; sandbox"

    /// Sets the headers that every answer of the dashboard has.
    mutating func protect(isPage: Bool) {
        headers[.contentSecurityPolicy] = isPage ? Self.pagePolicy : Self.dataPolicy
        headers[.xContentTypeOptions] = "nosniff"
        headers[.referrerPolicy] = "no-referrer"
        headers[.crossOriginResourcePolicy] = "same-origin"
        headers[.crossOriginOpenerPolicy] = "same-origin"
        if headers[.cacheControl] == nil { headers[.cacheControl] = "no-store" }
    }

    static func dashboardFile(_ file: DashboardFile, status: HTTPResponse.Status = .ok) -> Response {
        var response = Response(
            status: status, headers: [.contentType: file.mediaType, .cacheControl: "no-cache"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: file.bytes)))
        response.protect(isPage: true)
        return response
    }

    /// An answer without content. The connection ends: what follows on it, such as a body, is not read.
    static func dashboardRefusal(_ status: HTTPResponse.Status) -> Response {
        var response = Response(status: status, headers: [.contentLength: "0", .connection: "close"])
        response.protect(isPage: false)
        return response
    }

    /// Leads a browser to the page, with the cookie that lets it in; without one if it has it.
    static func dashboardEntry(cookie: String?) -> Response {
        var response = Response(status: .seeOther, headers: [.location: "/", .contentLength: "0"])
        if let cookie { response.headers[.setCookie] = "\(cookie); Path=/; HttpOnly; SameSite=Strict" }
        response.protect(isPage: false)
        return response
    }
}

extension HTTPField.Name {
    static let referrerPolicy = HTTPField.Name("Referrer-Policy")!
    static let crossOriginResourcePolicy = HTTPField.Name("Cross-Origin-Resource-Policy")!
    static let crossOriginOpenerPolicy = HTTPField.Name("Cross-Origin-Opener-Policy")!
}
