package import ControlAPI
import SyncAgent
import Synchronization

/// The browsers that may see the dashboard: tokens that sign one in, once, and the cookies of those that are signed in.
///
/// All of it is in memory. A start of the agent, or of the server at another address, signs every browser out. Each secret is
/// 256 random bits, so a guess is hopeless, and a comparison that takes longer for a better guess tells nothing: secrets are
/// looked up by their hash, under a key that is random in each process.
package final class DashboardAccess: Sendable {
    /// The time for which a token can be used: long enough to carry it to another window.
    package static let tokenLifetime = Duration.seconds(300)
    /// The time after which a browser that asked nothing is signed out.
    package static let idleLifetime = Duration.seconds(86_400)
    package static let tokenCount = 16
    package static let sessionCount = 64

    private struct State {
        /// The time at which each token expires.
        var tokens: [String: ContinuousClock.Instant] = [:]
        /// The time at which each session was last used.
        var sessions: [String: ContinuousClock.Instant] = [:]
        /// Nil until the server listens.
        var port: Int?
        var onSignOut: @Sendable () -> Void = {}
    }

    /// The name of the cookie. Browsers keep one jar for all ports of a host, so that two agents must not share a name.
    package let cookieName: String
    /// The host at which the server listens, as it was configured.
    package let host: String
    private let state = Mutex(State())

    package init(host: String) {
        self.host = host
        cookieName = "lanyard-\(Self.secret().prefix(8))"
    }

    private static func secret() -> String {
        var generator = SystemRandomNumberGenerator()
        return Hexadecimal.text((0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }

    /// The port at which the server listens; nil before it does, and where it could not.
    package var port: Int? { state.withLock(\.port) }

    /// Records that the server listens.
    ///
    /// - Parameter onSignOut: closes the connections of all browsers.
    package func listens(at port: Int, onSignOut: @escaping @Sendable () -> Void) {
        state.withLock {
            $0.port = port
            $0.onSignOut = onSignOut
        }
    }

    /// Returns an address that signs one browser in; nil while the server does not listen. With more than 16 open tokens the
    /// oldest is void.
    package func link(alsoAt others: [String], at now: ContinuousClock.Instant = .now) -> DashboardLink? {
        let token = Self.secret()
        let port = state.withLock { state -> Int? in
            guard let port = state.port else { return nil }
            state.tokens = state.tokens.filter { $0.value > now }
            if state.tokens.count >= Self.tokenCount, let oldest = state.tokens.min(by: { $0.value < $1.value }) {
                state.tokens[oldest.key] = nil
            }
            state.tokens[token] = now + Self.tokenLifetime
            return port
        }
        guard let port else { return nil }
        func address(_ host: String) -> String {
            "http://\(host.contains(":") ? "[\(host)]" : host):\(port)/?token=\(token)"
        }
        let isAny = DashboardGate.isAny(host)
        let lifetime = Int64(Self.tokenLifetime / .milliseconds(1))
        return DashboardLink(
            url: address(isAny ? "127.0.0.1" : host), alsoAt: isAny ? others.map(address) : [],
            expires: Timestamp(millisecondsSinceEpoch: WallClock.milliseconds + lifetime))
    }

    /// Uses a token up. Returns the cookie's value for the browser that showed it; nil for a token that is unknown, used or
    /// expired. With more than 64 browsers the one that asked longest ago is signed out.
    package func exchange(_ token: String, at now: ContinuousClock.Instant = .now) -> String? {
        let session = Self.secret()
        return state.withLock { state in
            guard let expires = state.tokens.removeValue(forKey: token), expires > now else { return nil }
            if state.sessions.count >= Self.sessionCount, let oldest = state.sessions.min(by: { $0.value < $1.value }) {
                state.sessions[oldest.key] = nil
            }
            state.sessions[session] = now
            return session
        }
    }

    /// Makes a token void, where one is open.
    package func withdraw(_ token: String) { state.withLock { $0.tokens[token] = nil } }

    /// Returns true for the cookie of a browser that is signed in.
    package func admits(_ session: String, at now: ContinuousClock.Instant = .now) -> Bool {
        state.withLock { state in
            guard let used = state.sessions[session] else { return false }
            guard now - used < Self.idleLifetime else {
                state.sessions[session] = nil
                return false
            }
            state.sessions[session] = now
            return true
        }
    }

    /// Signs all browsers out, ends what they read, and makes open tokens void. Returns how many browsers there were.
    package func signOut() -> Int {
        let (count, onSignOut) = state.withLock { state in
            defer { (state.tokens, state.sessions) = ([:], [:]) }
            return (state.sessions.count, state.onSignOut)
        }
        onSignOut()
        return count
    }
}
