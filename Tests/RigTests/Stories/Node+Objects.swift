import Foundation
import Testing

/// What the stories read of the answers about objects.
struct StoredObject: Decodable {
    let id: String
    let collection: String
    let fields: JSONValue
    let version: String
}

struct DeletedEntry: Decodable {
    let id: String
    let collection: String
    let device: String
    let time: String
}

struct Conflict: Decodable {
    let id: String
    let collection: String
    let field: String?
    let kind: String
    let values: [JSONValue]
    let authors: [Author]
    let deletions: [Author]

    struct Author: Decodable {
        let device: String
    }

    /// What a person is told, without the values.
    var sentence: String { "\(collection)/\(id)\(field.map { " " + $0 } ?? ""): \(kind)" }
}

struct HistoryStep: Decodable {
    let version: String
    let time: String
    let device: String
    let kind: String
    let field: String?
    let old: JSONValue?
    let new: JSONValue?
    let edits: [TextStep]?
}

/// A step of an edit of a text.
struct TextStep: Decodable, Equatable {
    let offset: Int
    let deleted: String
    let inserted: String
}

/// Who wrote a stretch of a text, or an element.
struct Blame: Decodable, Equatable {
    let field: String
    let offset: Int?
    let text: String?
    let value: JSONValue?
    let device: String
    let time: String
    let version: String
}

struct Difference: Decodable, Equatable {
    struct Lines: Decodable, Equatable {
        let line: Int
        let newLine: Int
        let deleted: [String]
        let inserted: [String]
    }
    let field: String
    let old: JSONValue?
    let new: JSONValue?
    let edits: [TextStep]?
    let lines: [Lines]?
}

/// A command that was not carried out: `{"error":{"code","message","hint"}}` and its exit code.
struct Refusal: Decodable {
    struct Body: Decodable {
        let code: String
        let message: String
        let hint: String
        let version: String?
    }
    let error: Body
}

/// The commands about objects. An object is named as on the command line: `COLLECTION/ID`.
extension Node {
    @discardableResult
    func put(_ object: String, _ fields: JSONValue, _ options: String...) throws -> StoredObject {
        try decode(
            StoredObject.self, try lanyard(["put", object, fields.line, "--json"] + options).output)
    }

    @discardableResult
    func edit(_ object: String, _ operations: String...) throws -> StoredObject {
        try decode(StoredObject.self, try lanyard(["edit", object, "--json"] + operations).output)
    }

    func get(_ object: String) throws -> StoredObject {
        try decode(StoredObject.self, try lanyard("get", object, "--json").output)
    }

    func fields(_ object: String) throws -> JSONValue { try get(object).fields }

    func list(_ collection: String, _ options: String...) throws -> [StoredObject] {
        try decode([StoredObject].self, try lanyard(["list", collection, "--json"] + options).output)
    }

    /// Whether there was something to delete.
    @discardableResult
    func delete(_ object: String) throws -> Bool {
        struct Answer: Decodable { let deleted: Bool }
        return try decode(Answer.self, try lanyard("delete", object, "--yes", "--json").output).deleted
    }

    func deleted(_ collection: String) throws -> [DeletedEntry] {
        try decode([DeletedEntry].self, try lanyard("deleted", collection, "--json").output)
    }

    func conflicts(_ collection: String? = nil) throws -> [Conflict] {
        let command = ["conflicts", "list", "--json"] + (collection.map { [$0] } ?? [])
        return try decode([Conflict].self, try lanyard(command).output)
    }

    func resolve(_ object: String, _ decision: String) throws {
        try lanyard("conflicts", "resolve", object, decision, "--yes")
    }

    func history(_ object: String) throws -> [HistoryStep] {
        try decode([HistoryStep].self, try lanyard("history", object, "--json").output)
    }

    /// As the author of that version left it.
    func object(_ object: String, at version: String) throws -> StoredObject {
        try decode(StoredObject.self, try lanyard("history", object, "--at", version, "--json").output)
    }

    func blame(_ object: String, _ field: String, at version: String? = nil) throws -> [Blame] {
        let command =
            ["history", object, "--field", field, "--blame", "--json"] + (version.map { ["--at", $0] } ?? [])
        return try decode([Blame].self, try lanyard(command).output)
    }

    func difference(_ object: String, from: String, at version: String? = nil) throws -> [Difference] {
        let command = ["history", object, "--from", from, "--json"] + (version.map { ["--at", $0] } ?? [])
        return try decode([Difference].self, try lanyard(command).output)
    }

    /// The same command for many objects, `$object` in turn, typed as one line of shell: one after the other, all have to
    /// succeed.
    func lanyard(_ command: String, for objects: [String]) throws {
        let list = objects.joined(separator: " ")
        try shell("for object in \(list); do lanyard \(command) -q || exit 1; done")
    }

    func shell(_ script: String) throws {
        let outcome = try run(["sh", "-c", script])
        guard outcome.status == 0 else { throw RigError(description: "\(script) on \(name): \(outcome.errors)") }
    }

    /// How many changes this node holds.
    func homeChanges() throws -> Int {
        guard let home = try status().spaces.first(where: { $0.name == "home" }) else {
            throw RigError(description: "\(name) has no space 'home'")
        }
        return home.changes
    }

    func setSchema(_ collection: String, _ schema: JSONValue) throws {
        try lanyard("schema", "set", collection, "-", input: schema.line)
    }

    /// Runs `lanyard` with a command that it must refuse with this code, in a sentence, with a next step.
    @discardableResult
    func expectRefusal(
        _ arguments: [String], input: String? = nil, code: String, exit: Int32,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> Refusal? {
        expectRefusal(
            of: try run(["lanyard"] + arguments + ["--json"], input: input), code: code, exit: exit,
            sourceLocation: sourceLocation)
    }

    @discardableResult
    func expectRefusal(
        of outcome: Outcome, code: String, exit: Int32, sourceLocation: SourceLocation = #_sourceLocation
    ) -> Refusal? {
        #expect(outcome.status == exit, "\(outcome.errors)\(outcome.output)", sourceLocation: sourceLocation)
        #expect(outcome.output.isEmpty, "nothing was done, so nothing is answered", sourceLocation: sourceLocation)
        guard let refusal = try? decode(Refusal.self, outcome.errors) else {
            Issue.record("not an error with code and hint: \(outcome.errors)", sourceLocation: sourceLocation)
            return nil
        }
        #expect(refusal.error.code == code, "\(refusal.error.message)", sourceLocation: sourceLocation)
        #expect(refusal.error.message.hasSuffix("."), "\(refusal.error.message)", sourceLocation: sourceLocation)
        #expect(!refusal.error.hint.isEmpty, "what to do next", sourceLocation: sourceLocation)
        return refusal
    }
}
