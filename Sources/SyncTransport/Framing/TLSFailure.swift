import Glibc
import NIOCore
import NIOSSL

/// The meaning of an error of the pipeline to people.
enum TLSFailure {
    static func reason(_ error: any Error) -> EndReason {
        if let error = error as? NIOSSLError {
            switch error {
            case .handshakeFailed(let inner), .shutdownFailed(let inner): return reason(inner)
            case .noCertificateToValidate: return .noCertificate
            case .unableToValidateCertificate: return .notPaired
            case .uncleanShutdown: return .closedByPeer
            case .writeDuringTLSShutdown, .unableToAllocateBoringSSLObject, .noSuchFilesystemObject,
                .failedToLoadCertificate, .failedToLoadPrivateKey, .cannotMatchULabel, .cannotFindPeerIP,
                .readInInvalidTLSState:
                return .tlsFailed
            }
        }
        if let error = error as? BoringSSLError { return reason(error) }
        if let error = error as? IOError { return reason(errno: error.errnoCode) }
        return .tlsFailed
    }

    /// errno of a socket that was connected.
    static func reason(errno: CInt) -> EndReason {
        switch errno {
        case ECONNREFUSED: .refused
        case ETIMEDOUT: .silent
        case ECONNRESET, EPIPE, ECONNABORTED: .reset
        case EHOSTUNREACH, EHOSTDOWN: .hostUnreachable
        case ENETUNREACH, ENETDOWN, EADDRNOTAVAIL, ENODEV: .networkUnreachable
        default: .reset
        }
    }

    private static func reason(_ error: BoringSSLError) -> EndReason {
        switch error {
        case .sslError(let stack), .unknownError(let stack):
            if stack.contains(.eofDuringHandshake) || stack.contains(.eofDuringAdditionalCertficiateChainValidation) {
                return .closedInHandshake
            }
            // The libraries below TLS put their own entries before it.
            let code = stack.lazy.compactMap(packedCode).first { $0 >> 24 == sslLibrary }
            return code.map { reason(sslCode: $0 & 0xfff) } ?? .tlsFailed
        case .zeroReturn, .syscallError: return .closedByPeer
        case .noError, .wantRead, .wantWrite, .wantConnect, .wantAccept, .wantX509Lookup, .wantCertificateVerify,
            .invalidSNIName, .failedToSetALPN:
            return .tlsFailed
        }
    }

    /// NIOSSL shows BoringSSL's packed error code only at the head of a description: "Error: 268435703 error:…".
    private static func packedCode(_ error: BoringSSLInternalError) -> UInt32? {
        let words = error.description.split(separator: " ", maxSplits: 2)
        return words.count > 1 ? UInt32(words[1]) : nil
    }

    /// BoringSSL's err.h, `ERR_LIB_SSL`.
    private static let sslLibrary: UInt32 = 16

    /// BoringSSL's ssl.h, `SSL_R_…`; from 1000 on the peer's alert plus 1000. Each line that matters has a test that
    /// fails when the numbers move.
    private static func reason(sslCode: UInt32) -> EndReason {
        switch sslCode {
        case 114: return .wrongKey  // BAD_SIGNATURE
        case 125: return .notPaired  // CERTIFICATE_VERIFY_FAILED
        case 192: return .noCertificate  // PEER_DID_NOT_RETURN_A_CERTIFICATE
        case 240, 1070: return .oldTLS  // UNSUPPORTED_PROTOCOL, alert protocol_version
        // HTTPS_PROXY_REQUEST, HTTP_REQUEST, UNEXPECTED_RECORD, WRONG_VERSION_NUMBER
        case 155, 156, 225, 247: return .notTLS
        case 1042, 1043, 1044, 1045, 1046, 1048, 1049, 1116: return .notPairedThere  // alerts about our certificate
        case 1120: return .wrongProtocol  // alert no_application_protocol
        default: return .tlsFailed
        }
    }
}
