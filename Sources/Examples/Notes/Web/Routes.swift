import HTTPTypes
import HummingbirdCore
import Lanyard
import NIOCore

/// The requests of the page. The note that a request is about stands in its query.
struct Routes: Sendable {
    /// The bytes of a picture that is added, at most.
    private static let maximumPictureBytes = 32 << 20
    private static let maximumBytes = 4 << 20

    private let notebook: Notebook

    init(_ notebook: Notebook) { self.notebook = notebook }

    func respond(to request: Request) async -> Response {
        do {
            let query = request.uri.queryParameters
            let note = query["note"].map(String.init) ?? ""
            switch request.method {
            case .get: return try await read(request, note, query["id"].map(String.init) ?? "")
            case .post where request.uri.path == "/attach":
                let bytes = try await body(of: request, upTo: Self.maximumPictureBytes)
                try await notebook.attach(bytes, name: query["name"].map(String.init) ?? "", to: note)
                return .done
            case .post:
                // A form of another site cannot send this type without being given leave first.
                guard request.headers[.contentType] == "application/json" else {
                    throw ControlError(.unsupportedMediaType, "Send JSON.")
                }
                return try await change(request.uri.path, note, body(of: request, upTo: Self.maximumBytes))
            case _: throw Self.nothing
            }
        } catch {
            return .failure(error)
        }
    }

    private static let nothing = ControlError(.notFound, "There is nothing here.")

    private func body(of request: Request, upTo limit: Int) async throws -> [UInt8] {
        do { return Array(buffer: try await request.body.collect(upTo: limit)) } catch {
            throw ControlError(.tooLarge, "This is larger than \(limit >> 20) MiB.", hint: "Take a smaller one.")
        }
    }

    // MARK: Reading

    /// - Parameter id: the page, picture, version or text that is asked for.
    private func read(_ request: Request, _ note: String, _ id: String) async throws -> Response {
        switch request.uri.path {
        case "/": return .file(PackageResources.index_html, "text/html")
        case "/notes.css": return .file(PackageResources.notes_css, "text/css")
        case "/notes.js": return .file(PackageResources.notes_js, "text/javascript")
        case "/program.js": return .file(PackageResources.program_js, "text/javascript")
        case "/list.js": return .file(PackageResources.list_js, "text/javascript")
        case "/editor.js": return .file(PackageResources.editor_js, "text/javascript")
        case "/pictures.js": return .file(PackageResources.pictures_js, "text/javascript")
        case "/text.js": return .file(PackageResources.text_js, "text/javascript")
        case "/undo.js": return .file(PackageResources.undo_js, "text/javascript")
        case "/events":
            let page = Page(id, notebook.home)
            await notebook.enter(page)
            return .events(of: page, for: request) { await notebook.leave(page) }
        case "/search": return .json(JSON.bytes(await notebook.search(id)))
        case "/pictures": return .json(JSON.bytes(await notebook.pictures.shown(of: ObjectID(note))))
        case "/picture":
            guard let (entry, kind) = try await notebook.pictures.picture(id) else {
                return .failure(.catchingUp, "The picture is on its way to this machine.")
            }
            return .picture(entry, kind, notebook.home)
        case "/history": return .json(JSON.bytes(try await notebook.history(note)))
        case "/version": return .json(JSON.bytes(["text": try await notebook.text(note, at: id)]))
        case _: throw Self.nothing
        }
    }

    // MARK: Changing

    /// A note that a page shows from now on, or whose text it wants to begin anew.
    private struct Showing: Decodable {
        var page: String
        var note: String?
        var opening: Int?
    }

    private struct Place: Decodable {
        var page: String
        var cursor: Cursor
    }

    private struct Draft: Decodable {
        var tags: [String]
    }

    private struct Edit: Decodable {
        var version: String
        var edits: [TextSplice]
        var key: String
    }

    private struct Picture: Decodable {
        var id: String
        var hash: String
        var name: String
    }

    private func change(_ path: String, _ note: String, _ bytes: [UInt8]) async throws -> Response {
        switch path {
        case "/text":
            let edit = try JSON.value(Edit.self, bytes)
            let edits = TextEdits(version: edit.version, unit: .utf16, edits: edit.edits)
            return .json(JSON.bytes(["version": try await notebook.edit(note, edits, key: edit.key)]))
        case "/cursor":
            let place = try JSON.value(Place.self, bytes)
            await (try notebook.page(place.page)).set(place.cursor)
        case "/show":
            let showing = try JSON.value(Showing.self, bytes)
            let page = try await notebook.page(showing.page)
            page.show(showing.note)
            if let opening = showing.opening { page.followText(opening: opening) }
        case "/create":
            let draft = try JSON.value(Draft.self, bytes)
            return .json(JSON.bytes(["id": try await notebook.create(tags: draft.tags)]))
        case "/change": try await notebook.change(note, try JSON.value(Notebook.Change.self, bytes))
        case "/detach": try await notebook.detach(try JSON.value(Picture.self, bytes).id, from: note)
        case "/attach-again":
            let picture = try JSON.value(Picture.self, bytes)
            try await notebook.attachAgain(hash: picture.hash, name: picture.name, to: note)
        case "/empty-bin": try await notebook.emptyBin()
        case _: throw Self.nothing
        }
        return .done
    }
}
