import Crypto
import Foundation
import SyncModel
import SyncTransport
import Testing

@Suite struct IdentityTests {
    @Test func `the first start makes keys that only their owner can read, later ones find them`() throws {
        let parent = try TemporaryDirectory()
        let directory = parent.path + "/device"
        let first = try DeviceIdentity.loadOrCreate(in: directory)
        #expect(try parent.mode(of: "device") == 0o700)
        #expect(try parent.mode(of: "device/identity.pem") == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["identity.pem"])
        let second = try DeviceIdentity.loadOrCreate(in: directory)
        #expect(first.deviceID == second.deviceID)
        #expect(first.binding == second.binding)
        #expect(first.signingKey.rawRepresentation == second.signingKey.rawRepresentation)
        #expect(first.deviceID == DeviceID(subjectPublicKeyInfo: first.subjectPublicKeyInfo))
    }

    @Test func `the signing key is bound to the device as members check it`() throws {
        let directory = try TemporaryDirectory()
        let identity = try DeviceIdentity.loadOrCreate(in: directory.path)
        let fact = MemberFact(
            subjectPublicKeyInfo: identity.subjectPublicKeyInfo,
            signingKey: Array(identity.signingKey.publicKey.rawRepresentation), binding: identity.binding,
            discoveryKey: [UInt8](repeating: 0, count: 32), role: .writer, name: "desk")
        #expect(fact.isBound)
        #expect(identity.binding.count == 64)
    }

    @Test func `two devices are two`() throws {
        let (first, second) = (try TemporaryDirectory(), try TemporaryDirectory())
        let one = try DeviceIdentity.loadOrCreate(in: first.path)
        let other = try DeviceIdentity.loadOrCreate(in: second.path)
        #expect(one.deviceID != other.deviceID)
    }

    @Test(arguments: [0o644, 0o640, 0o604, 0o660, 0o666])
    func `a key file that others may use is refused with the chmod to type`(mode: Int) throws {
        let directory = try TemporaryDirectory()
        _ = try DeviceIdentity.loadOrCreate(in: directory.path)
        try directory.setMode(mode, of: "identity.pem")
        let error = try #require(throws: IdentityError.self) { try DeviceIdentity.loadOrCreate(in: directory.path) }
        let file = directory.path + "/identity.pem"
        #expect(error == .tooOpen(path: file, mode: UInt32(mode), wanted: 0o600))
        #expect(error.code == "key_file_mode" && error.hint == "chmod 0600 \(file)")
    }

    @Test func `a directory that others may use is refused`() throws {
        let directory = try TemporaryDirectory()
        try directory.setMode(0o755)
        let error = try #require(throws: IdentityError.self) { try DeviceIdentity.loadOrCreate(in: directory.path) }
        #expect(error == .tooOpen(path: directory.path, mode: 0o755, wanted: 0o700))
        #expect(error.hint == "chmod 0700 \(directory.path)")
    }

    @Test func `a file in place of the directory, or a link in place of the file, is refused`() throws {
        let directory = try TemporaryDirectory()
        let file = directory.path + "/file"
        try Data().write(to: URL(fileURLWithPath: file))
        #expect(throws: IdentityError.notRegular(path: file)) { try DeviceIdentity.loadOrCreate(in: file) }
        let link = directory.path + "/identity.pem"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: file)
        #expect(throws: IdentityError.notRegular(path: link)) { try DeviceIdentity.loadOrCreate(in: directory.path) }
    }

    @Test func `a damaged key file is said so, kept as it is, and never replaced by a new identity`() throws {
        let directory = try TemporaryDirectory()
        _ = try DeviceIdentity.loadOrCreate(in: directory.path)
        let file = directory.path + "/identity.pem"
        let whole = try Data(contentsOf: URL(fileURLWithPath: file))
        let other = try TemporaryDirectory()
        _ = try DeviceIdentity.loadOrCreate(in: other.path)
        let foreign = try Data(contentsOf: URL(fileURLWithPath: other.path + "/identity.pem"))
        let damages: [Data] = [
            Data(), whole.prefix(whole.count / 2), whole.prefix(100), Data(whole.reversed()), whole + whole,
            Data(repeating: 0x41, count: 20_000), Self.exchange(whole, foreign, block: 0),
            Self.exchange(whole, foreign, block: 1), Self.exchange(whole, foreign, block: 2),
            Self.exchange(whole, foreign, block: 3),
        ]
        for damage in damages {
            try damage.write(to: URL(fileURLWithPath: file))
            let error = try #require(throws: IdentityError.self) { try DeviceIdentity.loadOrCreate(in: directory.path) }
            #expect(error.code == "key_file_damaged")
            #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == damage)
        }
    }

    /// A file whose blocks are sound, but one is another device's.
    private static func exchange(_ file: Data, _ other: Data, block: Int) -> Data {
        let separator = "-----BEGIN "
        var blocks = String(decoding: file, as: UTF8.self).components(separatedBy: separator)
        blocks[block + 1] = String(decoding: other, as: UTF8.self).components(separatedBy: separator)[block + 1]
        return Data(blocks.joined(separator: separator).utf8)
    }

    @Test func `one flipped bit in the file is never taken for another identity`() throws {
        let directory = try TemporaryDirectory()
        let identity = try DeviceIdentity.loadOrCreate(in: directory.path)
        let file = URL(fileURLWithPath: directory.path + "/identity.pem")
        let whole = try Data(contentsOf: file)
        for position in stride(from: 0, to: whole.count, by: 7) {
            var flipped = whole
            flipped[position] ^= 1 << UInt8(position % 8)
            try flipped.write(to: file)
            do throws(IdentityError) {
                let read = try DeviceIdentity.loadOrCreate(in: directory.path)
                #expect(read.deviceID == identity.deviceID)
            } catch {
                #expect(error.code == "key_file_damaged")
            }
        }
    }

    @Test func `what a crashed first start left does not stand in the way`() throws {
        let directory = try TemporaryDirectory()
        try Data("half".utf8).write(to: URL(fileURLWithPath: directory.path + "/identity.pem.tmp"))
        let identity = try DeviceIdentity.loadOrCreate(in: directory.path)
        #expect(try DeviceIdentity.loadOrCreate(in: directory.path).deviceID == identity.deviceID)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["identity.pem"])
    }

    /// Its certificate has a serial number of 21 bytes, one more than RFC 5280 allows. Line ends of another system and text
    /// outside the blocks change nothing.
    @Test func `a key file of an earlier version is read and kept`() throws {
        let directory = try TemporaryDirectory()
        let file = URL(fileURLWithPath: directory.path + "/identity.pem")
        for text in [Self.earlier, Self.earlier.replacing("\n", with: "\r\n"), "The desk's keys.\n\n" + Self.earlier] {
            try Data(text.utf8).write(to: file)
            try directory.setMode(0o600, of: "identity.pem")
            let identity = try DeviceIdentity.loadOrCreate(in: directory.path)
            #expect("\(identity.deviceID)" == "C6SMUY7-6IV2QQV-64ICNPX-5V2QYWW-OXEWBO7-I5HKNLY-SPPC6T4-HHB2RAY")
            #expect(try Data(contentsOf: file) == Data(text.utf8))
        }
    }

    private static let earlier = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgGQTVmFksLzHV+XUs
        WBvhwGUSOO936BU0f4tAwdvcShihRANCAARgU4gzNAPQOzcvusSeUz+10to0iCtJ
        hYd/AIZfhY1iAzNwCqM//9fsuVtK4mxWuOHSsz9FDjNvbwoIIzaPcgBn
        -----END PRIVATE KEY-----
        -----BEGIN CERTIFICATE-----
        MIIBIzCBy6ADAgECAhUAhFkZhhFDu3VteONmNmvSecoEM7wwCgYIKoZIzj0EAwIw
        EjEQMA4GA1UEAwwHbGFueWFyZDAeFw0yNjExMjQxMTUxMDlaFw00NjExMjUxMTUx
        MDlaMBIxEDAOBgNVBAMMB2xhbnlhcmQwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNC
        AARgU4gzNAPQOzcvusSeUz+10to0iCtJhYd/AIZfhY1iAzNwCqM//9fsuVtK4mxW
        uOHSsz9FDjNvbwoIIzaPcgBnMAoGCCqGSM49BAMCA0cAMEQCIFINdEcJ9qEBJUuq
        B5ZOpjrkQxUJM5VHgxZS4iK+lwJDAiAnvK26HcWSanCHeEVAkNcjRBv0hKdQ3E43
        e0gSFC9xnQ==
        -----END CERTIFICATE-----
        -----BEGIN LANYARD SIGNING KEY-----
        yq/N19mhmmFC8JgVIM7C1UDNQXBF4GYyJLV0szZAcAI=
        -----END LANYARD SIGNING KEY-----
        -----BEGIN LANYARD BINDING-----
        JOfdmePvJBy2O/rfwePoSw6jVrXIo7JJCBYEDY+rTSlDZHoNFLU3xf70BIXw7Vui
        wr+v9NqcaFkooe4bYBBURw==
        -----END LANYARD BINDING-----

        """

    @Test func `a directory that cannot be made is a typed error`() {
        #expect(throws: IdentityError.failed(path: "/proc/lanyard", operation: "Making", errno: ENOENT)) {
            try DeviceIdentity.loadOrCreate(in: "/proc/lanyard")
        }
    }
}
