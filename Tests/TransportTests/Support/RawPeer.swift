import Crypto
import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS
import SyncTransport

/// A client that does as it likes: no TLS, or TLS with any configuration; used to be refused.
final class RawPeer: Sendable {
    enum Sight: Sendable {
        case secured(alpn: String?)
        case bytes([UInt8])
        case failed(String)
        case closed
    }

    let seen = History<Sight>()
    private let channel: any Channel

    /// - Parameter from: the address to dial from.
    init(_ address: HostPort, tls: TLSConfiguration? = nil, from: String? = nil) async throws {
        let seen = seen
        let context = try tls.map { try NIOSSLContext(configuration: $0) }
        var bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton.next())
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let context {
                        let handler = try NIOSSLClientHandler(
                            context: context, serverHostname: nil,
                            customVerificationCallback: { _, promise in promise.succeed(.certificateVerified) })
                        try channel.pipeline.syncOperations.addHandler(handler)
                    }
                    try channel.pipeline.syncOperations.addHandler(Watcher(seen))
                }
            }
        if let from { bootstrap = try bootstrap.bind(to: SocketAddress(ipAddress: from, port: 0)) }
        channel = try await bootstrap.connect(host: address.host, port: address.port).get()
    }

    /// Bytes as they are, below any framing.
    func send(_ bytes: [UInt8]) async throws {
        try await channel.writeAndFlush(ByteBuffer(bytes: bytes))
    }

    func close() async throws { try await channel.close() }

    func closed() async throws {
        try await seen.first("the server to close") { sights in
            for case .closed in sights { return () }
            return nil
        }
    }

    func secured() async throws {
        try await seen.first("TLS to come up") { sights in
            for case .secured in sights { return () }
            return nil
        }
    }

    private final class Watcher: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        let seen: History<Sight>

        init(_ seen: History<Sight>) { self.seen = seen }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            seen.append(.bytes(Array(buffer: unwrapInboundIn(data))))
        }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if case TLSUserEvent.handshakeCompleted(let alpn)? = event as? TLSUserEvent {
                seen.append(.secured(alpn: alpn))
            }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { seen.append(.failed("\(error)")) }
        func channelInactive(context: ChannelHandlerContext) { seen.append(.closed) }
    }
}

extension RawPeer {
    /// TLS as `node` would speak it, to be spoilt by the caller.
    static func tls(as node: Node?, alpn: [String] = ["lanyard/1"]) throws -> TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.certificateVerification = .noHostnameVerification
        configuration.trustRoots = .certificates([])
        configuration.applicationProtocols = alpn
        guard let node else { return configuration }
        let file = node.directory.path + "/identity.pem"
        configuration.certificateChain = try NIOSSLCertificate.fromPEMFile(file).map {
            NIOSSLCertificateSource.certificate($0)
        }
        configuration.privateKey = .privateKey(try NIOSSLPrivateKey(file: file, format: .pem))
        return configuration
    }
}

/// Signs with a key that is not the certificate's.
struct StolenCertificateKey: NIOSSLCustomPrivateKey, Hashable {
    private let key = P256.Signing.PrivateKey()

    static func == (left: Self, right: Self) -> Bool { left.key.rawRepresentation == right.key.rawRepresentation }
    func hash(into hasher: inout Hasher) { hasher.combine(key.rawRepresentation) }

    var signatureAlgorithms: [SignatureAlgorithm] { [.ecdsaSecp256R1Sha256] }
    var derBytes: [UInt8] { Array(key.derRepresentation) }

    func sign(channel: any Channel, algorithm: SignatureAlgorithm, data: ByteBuffer) -> EventLoopFuture<ByteBuffer> {
        channel.eventLoop.makeCompletedFuture {
            ByteBuffer(bytes: Array(try key.signature(for: Data(data.readableBytesView)).derRepresentation))
        }
    }

    func decrypt(channel: any Channel, data: ByteBuffer) -> EventLoopFuture<ByteBuffer> {
        channel.eventLoop.makeFailedFuture(ChannelError.operationUnsupported)
    }
}
