import NIOCore
import NIOSSL

/// Makes one TLS handler per connection, each with a context of its own.
///
/// A context is never used twice: BoringSSL's servers hand out session tickets, and a session resumed in the same
/// context is accepted without the certificate being asked for or our verification being called, so a removed device
/// could come back. Without trust roots a context costs some microseconds.
struct TLSHandlers {
    let identity: DeviceIdentity

    /// - Parameter verify: the one check of a peer's key; the reason to refuse it, or nil.
    func server(
        protocols: [ApplicationProtocol], verify: @escaping (PeerKey) -> EndReason?,
        verdict: @escaping (EndReason) -> Void
    ) throws -> NIOSSLServerHandler {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: [.certificate(identity.certificate)], privateKey: .privateKey(identity.privateKey))
        Self.restrict(&configuration, protocols)
        let context = try NIOSSLContext(configuration: configuration)
        return NIOSSLServerHandler(
            context: context, customVerificationCallback: Self.callback(verify: verify, verdict: verdict))
    }

    func client(
        protocols: [ApplicationProtocol], verify: @escaping (PeerKey) -> EndReason?,
        verdict: @escaping (EndReason) -> Void
    ) throws -> NIOSSLClientHandler {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.certificateChain = [.certificate(identity.certificate)]
        configuration.privateKey = .privateKey(identity.privateKey)
        Self.restrict(&configuration, protocols)
        let context = try NIOSSLContext(configuration: configuration)
        // No server name: it would travel in clear, and names mean nothing here.
        return try NIOSSLClientHandler(
            context: context, serverHostname: nil,
            customVerificationCallback: Self.callback(verify: verify, verdict: verdict))
    }

    private static func restrict(_ configuration: inout TLSConfiguration, _ protocols: [ApplicationProtocol]) {
        configuration.minimumTLSVersion = .tlsv13
        configuration.maximumTLSVersion = .tlsv13
        configuration.certificateVerification = .noHostnameVerification
        configuration.trustRoots = .certificates([])
        configuration.applicationProtocols = protocols.map(\.rawValue)
        // The hybrid first: recorded traffic stays closed to a later quantum computer.
        configuration.curves = [.x25519_MLKEM768, .x25519]
        configuration.shutdownTimeout = .seconds(1)
    }

    private static func callback(
        verify: @escaping (PeerKey) -> EndReason?, verdict: @escaping (EndReason) -> Void
    ) -> NIOSSLCustomVerificationCallback {
        { certificates, promise in
            guard let key = certificates.first.flatMap(PeerKey.init) else {
                verdict(.noCertificate)
                return promise.succeed(.failed)
            }
            if let reason = verify(key) {
                verdict(reason)
                return promise.succeed(.failed)
            }
            promise.succeed(.certificateVerified)
        }
    }
}
