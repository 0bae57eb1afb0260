import ControlAPI
import HTTPTypes
import HummingbirdCore
import NIOCore

/// An upload of JSON lines, written while they arrive: each line its own change, committed in groups of the lines that arrived
/// since the group before.
///
/// It stops at the first bad line. Lines before it stay written, and the answer counts them.
///
/// If the request has a key, a line has it too, with its number; a line that names a key of its own has that. So all of an
/// upload can be sent again after a lost connection: no line is written twice.
struct LineUpload<Draft: Sendable>: Sendable {
    let request: ControlRequest
    /// The noun for the lines in messages: `events`.
    let noun: StaticString
    /// Returns the error for an unfinished line with this many bytes.
    let tooLarge: @Sendable (Int) -> ControlError
    /// Reads a line; returns the draft and the key that it names.
    let read: @Sendable (JSONText) throws(ControlError) -> (Draft, key: String?)
    /// Writes at most `ControlLimits.groupEvents`. Its error counts in `written` what it wrote before the one it is about.
    let write: @Sendable ([Draft]) async throws(ControlError) -> EmitResponse

    private let key: RequestKey?

    init(
        request: ControlRequest, noun: StaticString, tooLarge: @escaping @Sendable (Int) -> ControlError,
        read: @escaping @Sendable (JSONText) throws(ControlError) -> (Draft, key: String?),
        write: @escaping @Sendable ([Draft]) async throws(ControlError) -> EmitResponse
    ) throws(ControlError) {
        self.request = request
        self.noun = noun
        self.tooLarge = tooLarge
        self.read = read
        self.write = write
        key = try request.key()
    }

    func run() async throws(ControlError) -> Response {
        var progress = Progress(upload: self)
        var lines = LineSplitter(tooLarge: tooLarge, key: key, read: read)
        request.upload.readAhead()
        do {
            for try await chunk in request.upload {
                try await progress.commit(&lines, chunk.readableBytesView)
            }
        } catch let error as ControlError {
            throw error
        } catch is CancellationError {
            throw ControlError(
                .stopping, "The agent is stopping; not all lines were read.", line: lines.lineNumber + 1,
                written: progress.answer.count)
        } catch {
            throw ControlError(
                .connectionLost, "The connection ended before all lines were read.", line: lines.lineNumber + 1,
                written: progress.answer.count)
        }
        try await progress.finish(&lines)
        return .json(progress.answer)
    }

    /// The lines written so far, and the answer about them.
    private struct Progress {
        let upload: LineUpload
        var answer = EmitResponse(count: 0, first: nil, last: nil)

        init(upload: LineUpload) { self.upload = upload }

        mutating func commit(
            _ lines: inout LineSplitter<Draft>, _ chunk: ByteBufferView
        ) async throws(ControlError) {
            var group: [NumberedLine<Draft>] = []
            var fault: ControlError?
            do throws(ControlError) {
                try lines.append(chunk, to: &group)
            } catch {
                fault = error
            }
            try await write(group)
            if let fault { throw refusal(fault, line: lines.lineNumber) }
        }

        mutating func finish(_ lines: inout LineSplitter<Draft>) async throws(ControlError) {
            var group: [NumberedLine<Draft>] = []
            do throws(ControlError) {
                try lines.finish(to: &group)
            } catch {
                throw refusal(error, line: lines.lineNumber)
            }
            try await write(group)
        }

        private mutating func write(_ lines: [NumberedLine<Draft>]) async throws(ControlError) {
            for start in stride(from: 0, to: lines.count, by: ControlLimits.groupEvents) {
                let group = lines[start..<min(start + ControlLimits.groupEvents, lines.count)]
                do throws(ControlError) {
                    let part = try await RequestKey.with(group.map(\.key)) { () throws(ControlError) in
                        try await upload.write(group.map(\.draft))
                    }
                    answer.count += part.count
                    answer.first = answer.first ?? part.first
                    answer.last = part.last ?? answer.last
                } catch {
                    let place = start + (error.written ?? 0)
                    answer.count += error.written ?? 0
                    throw refusal(error, line: group.indices.contains(place) ? group[place].number : nil)
                }
            }
        }

        private func refusal(_ fault: ControlError, line: Int?) -> ControlError {
            ControlError(
                fault.code, line.map { "Line \($0): \(fault.message)" } ?? fault.message,
                hint: "\(answer.count) \(upload.noun) before it were written and stay. \(fault.hint)", line: line,
                written: answer.count, version: fault.version)
        }
    }
}

/// The draft of one line, and the line's number from 1.
struct NumberedLine<Draft: Sendable>: Sendable {
    let number: Int
    let draft: Draft
    let key: RequestKey?
}

/// Splits a stream of bytes into lines and reads each. Holds at most one unfinished line.
struct LineSplitter<Draft: Sendable> {
    /// White space around a value is dropped, and an object may be named beside its fields, so a line may be a little
    /// longer than a value.
    private static var lineBytes: Int { ControlLimits.payloadBytes + 65_536 }

    let tooLarge: (Int) -> ControlError
    /// The request's key.
    let key: RequestKey?
    let read: (JSONText) throws(ControlError) -> (Draft, key: String?)
    /// The number of the line that was read last, from 1.
    private(set) var lineNumber = 0
    private var rest: [UInt8] = []

    init(
        tooLarge: @escaping (Int) -> ControlError, key: RequestKey? = nil,
        read: @escaping (JSONText) throws(ControlError) -> (Draft, key: String?)
    ) {
        self.tooLarge = tooLarge
        self.key = key
        self.read = read
    }

    /// Appends the drafts of all lines that `chunk` completes. On a bad line, the drafts before it have been appended.
    mutating func append(_ chunk: ByteBufferView, to drafts: inout [NumberedLine<Draft>]) throws(ControlError) {
        var start = chunk.startIndex
        while let end = chunk[start...].firstIndex(of: 0x0A) {
            if rest.isEmpty {
                try add(Array(chunk[start..<end]), to: &drafts)
            } else {
                rest.append(contentsOf: chunk[start..<end])
                let line = rest
                rest = []
                try add(line, to: &drafts)
            }
            start = end + 1
        }
        rest.append(contentsOf: chunk[start...])
        guard rest.count <= Self.lineBytes else {
            lineNumber += 1
            throw tooLarge(rest.count)
        }
    }

    /// Takes what came behind the last line break as the last line, which need not end in one.
    mutating func finish(to drafts: inout [NumberedLine<Draft>]) throws(ControlError) {
        let line = rest
        rest = []
        if !line.isEmpty { try add(line, to: &drafts) }
    }

    private mutating func add(_ line: [UInt8], to drafts: inout [NumberedLine<Draft>]) throws(ControlError) {
        lineNumber += 1
        // An empty line carries nothing; editors and shells leave them at the end.
        if line.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) { return }
        let value: JSONText
        do throws(JSONSyntaxError) {
            value = try JSONText(line)
        } catch {
            throw ControlError(malformed: error)
        }
        let (draft, named) = try read(value)
        if let named { try ControlHeader.check(idempotencyKey: named) }
        let own = named.map { RequestKey(text: $0, content: line) } ?? key?.line(lineNumber, line)
        drafts.append(NumberedLine(number: lineNumber, draft: draft, key: own))
    }
}
