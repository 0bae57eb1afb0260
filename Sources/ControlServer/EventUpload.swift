import ControlAPI
import HTTPTypes
import HummingbirdCore
import NIOCore

/// Lines of JSON becoming events while they arrive: each line its own change, committed in groups of what has come.
///
/// It stops at the first bad line; what stood before it stays written, and the answer says how much that is.
struct EventUpload: Sendable {
    let request: ControlRequest
    let agent: any AgentControl

    func run() async throws(ControlError) -> Response {
        let (space, stream) = (try request.name(.space), try request.name(.stream))
        let type = request.query["type"]
        if let type { try NameRule.check(type, is: .type) }
        var progress = Progress(agent: agent, space: space, stream: stream)
        var lines = LineSplitter(type: type)
        do {
            for try await chunk in request.upload {
                try await progress.commit(&lines, chunk.readableBytesView)
            }
        } catch let error as ControlError {
            throw error
        } catch {
            throw ControlError(
                .connectionLost, "The connection ended before all lines were read.", line: lines.lineNumber + 1,
                written: progress.answer.count)
        }
        try await progress.finish(&lines)
        return .json(progress.answer)
    }

    /// What was written so far.
    private struct Progress {
        let agent: any AgentControl
        let space: String
        let stream: String
        var answer = EmitResponse(count: 0, first: nil, last: nil)

        init(agent: any AgentControl, space: String, stream: String) {
            self.agent = agent
            self.space = space
            self.stream = stream
        }

        mutating func commit(_ lines: inout LineSplitter, _ chunk: ByteBufferView) async throws(ControlError) {
            var group: [EventDraft] = []
            var fault: ControlError?
            do throws(ControlError) {
                try lines.append(chunk, to: &group)
            } catch {
                fault = error
            }
            try await write(group, endingAt: lines.lineNumber)
            if let fault { throw refusal(fault, line: lines.lineNumber) }
        }

        mutating func finish(_ lines: inout LineSplitter) async throws(ControlError) {
            var group: [EventDraft] = []
            do throws(ControlError) {
                try lines.finish(to: &group)
            } catch {
                throw refusal(error, line: lines.lineNumber)
            }
            try await write(group, endingAt: lines.lineNumber)
        }

        private mutating func write(_ events: [EventDraft], endingAt line: Int) async throws(ControlError) {
            for start in stride(from: 0, to: events.count, by: ControlLimits.groupEvents) {
                let group = Array(events[start..<min(start + ControlLimits.groupEvents, events.count)])
                do throws(ControlError) {
                    let part = try await agent.emit(space: space, stream: stream, events: group)
                    answer.count += part.count
                    answer.first = answer.first ?? part.first
                    answer.last = part.last ?? answer.last
                } catch {
                    let written = answer.count + (error.written ?? 0)
                    throw ControlError(error.code, error.message, hint: error.hint, written: written)
                }
            }
        }

        private func refusal(_ fault: ControlError, line: Int) -> ControlError {
            ControlError(
                fault.code, "Line \(line): \(fault.message)",
                hint: "\(answer.count) events before it were written and stay. \(fault.hint)", line: line,
                written: answer.count)
        }
    }
}

/// Cuts a stream of bytes into lines and each line into an event. Holds at most one unfinished line.
struct LineSplitter {
    /// White space around a payload is dropped, so a line may be a little longer than a payload.
    private static let lineBytes = ControlLimits.payloadBytes + 65_536

    let type: String?
    /// Of the line that was looked at last, from 1.
    private(set) var lineNumber = 0
    private var rest: [UInt8] = []

    init(type: String?) { self.type = type }

    /// Appends the events of all lines that `chunk` completes. On a bad line, what stood before it has been appended.
    mutating func append(_ chunk: ByteBufferView, to events: inout [EventDraft]) throws(ControlError) {
        var start = chunk.startIndex
        while let end = chunk[start...].firstIndex(of: 0x0A) {
            if rest.isEmpty {
                try add(Array(chunk[start..<end]), to: &events)
            } else {
                rest.append(contentsOf: chunk[start..<end])
                let line = rest
                rest = []
                try add(line, to: &events)
            }
            start = end + 1
        }
        rest.append(contentsOf: chunk[start...])
        guard rest.count <= Self.lineBytes else {
            lineNumber += 1
            throw ControlError.payloadTooLarge(byteCount: rest.count)
        }
    }

    /// A last line need not end in a line break.
    mutating func finish(to events: inout [EventDraft]) throws(ControlError) {
        let line = rest
        rest = []
        if !line.isEmpty { try add(line, to: &events) }
    }

    private mutating func add(_ line: [UInt8], to events: inout [EventDraft]) throws(ControlError) {
        lineNumber += 1
        // An empty line carries nothing; editors and shells leave them at the end.
        if line.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) { return }
        let payload: JSONText
        do throws(JSONSyntaxError) {
            payload = try JSONText(line)
        } catch {
            throw ControlError(malformed: error)
        }
        events.append(try EventDraft(checking: payload, type: type))
    }
}
