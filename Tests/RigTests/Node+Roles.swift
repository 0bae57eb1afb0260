import Foundation
import Testing

/// A row of `lanyard devices`.
struct Member: Decodable {
    let id: String
    let name: String
    let role: String
    let state: String
    let heard: [String]?
    let waitingFor: [String]?
    let revokedBy: String?
    let wipedAt: String?
}

/// Answer of `lanyard devices revoke`.
struct RevocationAnswer: Decodable {
    let device: String
    let heard: [String]
    let waitingFor: [String]
}

/// A row of `lanyard devices log`.
struct TrustLine: Decodable {
    let author: String
    let action: String
    let device: String
    let role: String?
    let byRecoveryKey: Bool?
    let inEffect: Bool
}

/// A page of `lanyard devices review`.
struct VoidPage: Decodable {
    struct Entry: Decodable {
        let kind: String
        let collection: String?
        let id: String?
        let action: String?
        let fields: [String]?
        let stream: String?
        let accepted: Bool?

        /// `COLLECTION/ID` of an object.
        var object: String? { kind == "object" ? "\(collection ?? "")/\(id ?? "")" : nil }
    }

    let device: String
    let entries: [Entry]
    let next: String?
    let dropped: Bool
}

/// Answer of `lanyard devices accept`.
struct Acceptance: Decodable {
    struct Object: Decodable {
        let collection: String
        let id: String
        let action: String
        let fields: [String]
        let version: String?
        let code: String?
    }

    let device: String
    let objects: [Object]
}

/// The commands about roles.
extension Node {
    func members() throws -> [Member] { try decode([Member].self, try lanyard("devices", "--json").output) }

    func member(_ name: String) throws -> Member {
        guard let member = try members().first(where: { $0.name == name }) else {
            throw RigError(description: "\(self.name) does not list \(name)")
        }
        return member
    }

    /// The device id of this node.
    func id() throws -> String { try status().device.id }

    func setRole(_ role: String, of device: String) throws {
        let changed = try decode(Member.self, try lanyard("devices", "role", device, role, "--json").output)
        guard changed.role == role else { throw RigError(description: "\(device) is \(changed.role), not \(role)") }
    }

    func revoke(_ device: String, _ options: String...) throws -> RevocationAnswer {
        let command = ["devices", "revoke", device, "--yes", "--json"] + options
        return try decode(RevocationAnswer.self, try lanyard(command).output)
    }

    func trustLog() throws -> [TrustLine] {
        try decode([TrustLine].self, try lanyard("devices", "log", "--json").output)
    }

    func review(_ device: String) throws -> VoidPage {
        try decode(VoidPage.self, try lanyard("devices", "review", device, "--json").output)
    }

    /// Makes the recovery key of the space that this node founded.
    func makeRecoveryKey() throws -> String {
        struct Answer: Decodable { let key: String }
        return try decode(Answer.self, try lanyard("recovery", "create", "--json").output).key
    }

    func hasRecoveryKey() throws -> Bool {
        struct Answer: Decodable { let exists: Bool }
        return try decode(Answer.self, try lanyard("recovery", "--json").output).exists
    }

    /// The sentence of a warning in `status`; nil if it does not warn of that.
    func warning(_ code: String) throws -> String? {
        let status = try decode(JSONValue.self, try lanyard("status", "--json").output)
        return status["warnings"]?.elements.first { $0["code"] == .text(code) }?["message"]?.text
    }

    /// The role of this node, as `status` says.
    func ownRole() throws -> String? {
        let status = try decode(JSONValue.self, try lanyard("status", "--json").output)
        return status["spaces"]?.elements.first?["role"]?.text
    }
}

extension Rig {
    /// Waits until all these nodes give the device this role.
    func waitUntilRole(
        _ role: String, of device: String, on numbers: [Int], sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try eventually(
            within: .seconds(20), "\(device) has the role \(role) on \(numbers)", sourceLocation: sourceLocation
        ) {
            try ask(numbers) { try $0.member(device).role }.allSatisfy { $0 == role }
        }
    }

    /// Waits until all these nodes say of the device that it was revoked.
    func waitUntilRevoked(
        _ device: String, on numbers: [Int], sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try eventually(
            within: .seconds(20), "\(device) is revoked on \(numbers)", sourceLocation: sourceLocation
        ) {
            try ask(numbers) { try $0.member(device).state }.allSatisfy { $0 == "revoked" }
        }
    }

    /// Waits until all these nodes say of themselves that they were revoked, and refuse to write.
    func waitUntilOut(_ numbers: [Int], sourceLocation: SourceLocation = #_sourceLocation) throws {
        try eventually(
            within: .seconds(30), "nodes \(numbers) say that they were revoked", sourceLocation: sourceLocation
        ) {
            try ask(numbers) { try $0.warning("revoked") != nil }.allSatisfy { $0 }
        }
        for number in numbers {
            try node(number).expectRefusal(
                ["put", "note/refused", "{}"], code: "read_only", exit: 4, sourceLocation: sourceLocation)
        }
    }
}
