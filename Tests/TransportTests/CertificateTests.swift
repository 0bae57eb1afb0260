import Crypto
import Foundation
import SyncTransport
import Testing

/// The device certificate as another implementation reads it.
@Suite struct CertificateTests {
    /// Writes the certificate as `openssl` likes it best, in PEM, and returns the file's path.
    private static func write(_ der: [UInt8], in directory: TemporaryDirectory) throws -> String {
        let path = directory.path + "/certificate.pem"
        let base64 = Data(der).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        let text = "-----BEGIN CERTIFICATE-----\n\(base64)\n-----END CERTIFICATE-----\n"
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        return path
    }

    @Test func `openssl reads the certificate in an identity's file`() throws {
        let directory = try TemporaryDirectory()
        let identity = try DeviceIdentity.loadOrCreate(in: directory.path)
        let file = directory.path + "/identity.pem"
        let text = try OpenSSL.run(["x509", "-in", file, "-noout", "-text", "-nameopt", "RFC2253"])
        let lines = text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        #expect(lines.contains("Version: 3 (0x2)"))
        #expect(lines.contains("Issuer: CN=lanyard") && lines.contains("Subject: CN=lanyard"))
        #expect(lines.count { $0 == "Signature Algorithm: ecdsa-with-SHA256" } == 2)
        #expect(lines.contains("ASN1 OID: prime256v1"))
        #expect(!text.contains("X509v3 extensions") && !text.contains("Negative"))
        let key = try P256.Signing.PublicKey(derRepresentation: identity.subjectPublicKeyInfo)
        let read = try OpenSSL.run(["x509", "-in", file, "-noout", "-pubkey"])
        #expect(read.trimmingCharacters(in: .newlines) == key.pemRepresentation)
    }

    @Test func `openssl verifies the signature, and refuses one that was changed`() throws {
        let directory = try TemporaryDirectory()
        var der = try DeviceCertificate.der(P256.Signing.PrivateKey())
        let sound = try Self.write(der, in: directory)
        #expect(try OpenSSL.run(["verify", "-CAfile", sound, "-check_ss_sig", sound]).hasSuffix(": OK\n"))
        der[der.count - 1] ^= 1
        let changed = try Self.write(der, in: directory)
        let failure = try #require(throws: OpenSSL.Failure.self) {
            try OpenSSL.run(["verify", "-CAfile", changed, "-check_ss_sig", changed])
        }
        #expect(failure.output.contains("certificate signature failure"))
    }

    /// Two digits for the year last until 2049 (RFC 5280 §4.1.2.5); a device without a clock starts in 1970.
    @Test(arguments: [
        (0, "1969-12-31 00:00:00Z", "1990-01-01 00:00:00Z", "UTCTIME"),
        (1_795_608_000, "2026-11-24 12:00:00Z", "2046-11-25 12:00:00Z", "UTCTIME"),
        (1_893_455_999, "2029-12-30 23:59:59Z", "2049-12-31 23:59:59Z", "UTCTIME"),
        (1_893_456_000, "2029-12-31 00:00:00Z", "2050-01-01 00:00:00Z", "GENERALIZEDTIME"),
    ])
    func `it is valid from a day ago for twenty years`(
        now: TimeInterval, start: String, end: String, type: String
    ) throws {
        let directory = try TemporaryDirectory()
        let der = try DeviceCertificate.der(P256.Signing.PrivateKey(), now: Date(timeIntervalSince1970: now))
        let file = try Self.write(der, in: directory)
        let dates = try OpenSSL.run(["x509", "-in", file, "-noout", "-startdate", "-enddate", "-dateopt", "iso_8601"])
        #expect(dates == "notBefore=\(start)\nnotAfter=\(end)\n")
        let times = try OpenSSL.run(["asn1parse", "-in", file]).split(separator: "\n")
            .filter { $0.contains("TIME") }
        #expect(times.count == 2 && times[0].contains("UTCTIME") && times[1].contains(type))
    }

    @Test func `serial numbers are positive, in their shortest form, at most 20 bytes, and never the same`() throws {
        let key = P256.Signing.PrivateKey()
        let serialNumbers = try (0..<300).map { _ in
            // Behind the heads of the two outer sequences and the version.
            let element = try DeviceCertificate.der(key).dropFirst(12)
            #expect(element.starts(with: [0x02, 20]))
            return Array(element.dropFirst(2).prefix(20))
        }
        #expect(serialNumbers.allSatisfy { (0x01...0x7f).contains($0[0]) })
        #expect(Set(serialNumbers).count == serialNumbers.count)
    }
}
