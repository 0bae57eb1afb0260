import Foundation
import SyncCore
package import SyncModel

/// A device's question to another one about a link of that one: the value of a session on the device that asks. The answer is present
/// on the device that is asked for as long as the question is. While no device asks, nothing is signed, sent or measured for it.
package struct LinkQuestion: Codable, Hashable, Sendable {
    /// The prefix of topics that clients cannot use.
    package static let reservedPrefix = "lanyard:"
    package static let topic = ExactString("lanyard:link-question")
    package static let answerTopic = ExactString("lanyard:link-answer")
    /// The answers that a device has present at once.
    static let maximumAnswers = 8

    /// The id of the device that is asked.
    package let asked: String
    /// The id of the device at the other end of its link.
    package let peer: String

    package init(asked: DeviceID, peer: DeviceID) { (self.asked, self.peer) = ("\(asked)", "\(peer)") }

    package var value: [UInt8] { Self.text(self) }

    fileprivate static func text(_ value: some Encodable) -> [UInt8] {
        guard let data = try? JSONEncoder().encode(value) else { preconditionFailure("text and numbers are JSON") }
        return Array(data)
    }
}

/// The answer to a `LinkQuestion`, with the number of its session. Agents of the version before know the first three.
package struct LinkAnswer: Codable, Hashable, Sendable {
    /// The id of the device that asked.
    package let asker: String
    /// True if there is a session on the link.
    package let connected: Bool
    /// The round trip that was measured last on that session; nil: none was yet.
    package let roundTripMicroseconds: Int64?
    /// True while the way is being measured, since there is no session: another answer follows.
    package var isMeasuring: Bool?
    /// `HOST:PORT` that was dialled to measure the way.
    package var address: String?
    /// The time of a TCP handshake with that address.
    package var tcpMicroseconds: Int64?
    /// The code of the reason why there was none.
    package var tcpFailure: String?
}

/// The answers of this device, by the session of their question. An answer stands until its question is gone: one that
/// changed with each measurement would be signed and sent again each time. The only change is that of an answer without a session,
/// once the way was measured.
struct LinkAnswers {
    private struct Question {
        let asker: DeviceID
        let peer: String
    }

    private struct Given: Equatable {
        /// The device at the other end; nil if it is no member.
        let peer: DeviceID?
        var answer: LinkAnswer
    }

    private var given: [UInt64: Given] = [:]

    /// The devices whose way is to be measured, sorted.
    var unmeasured: [DeviceID] {
        Set(given.values.filter { $0.answer.isMeasuring == true }.compactMap(\.peer)).sorted()
    }

    /// Takes what is present with others, and returns the answers if they changed.
    ///
    /// - Parameter peers: the links of this device; asked for only when there is a new question.
    mutating func update(
        _ records: [PresenceRecord], own: DeviceID, peers: () -> [PeerView]
    ) -> [PresenceRecord.Entry]? {
        let open = Self.questions(in: records, to: own)
        let before = given
        given = given.filter { open[$0.key] != nil }
        let new = open.keys.filter { given[$0] == nil }.sorted().prefix(LinkQuestion.maximumAnswers - given.count)
        let links = new.isEmpty ? [] : peers()
        for session in new {
            guard let question = open[session] else { continue }
            let link = links.first { $0.device.map { "\($0)" } == question.peer }
            let isUp = link?.state == .connected
            let roundTrip = isUp ? link.flatMap { $0.newestRoundTrip ?? $0.roundTrip } : nil
            let answer = LinkAnswer(
                asker: "\(question.asker)", connected: isUp,
                roundTripMicroseconds: roundTrip.map { $0.nanoseconds / 1_000 },
                isMeasuring: isUp || link == nil ? nil : true)
            given[session] = Given(peer: link?.device, answer: answer)
        }
        return given == before ? nil : entries
    }

    /// Completes the answers that wait for the way to a device, and returns all if any did.
    mutating func take(_ probe: WayProbe?, of device: DeviceID) -> [PresenceRecord.Entry]? {
        let before = given
        for (session, waiting) in given where waiting.peer == device && waiting.answer.isMeasuring == true {
            given[session]?.answer.isMeasuring = nil
            given[session]?.answer.address = probe?.address
            given[session]?.answer.tcpMicroseconds = probe?.microseconds
            given[session]?.answer.tcpFailure = probe?.failure
        }
        return given == before ? nil : entries
    }

    private var entries: [PresenceRecord.Entry] {
        given.sorted { $0.key < $1.key }.map { session, given in
            PresenceRecord.Entry(
                topic: LinkQuestion.answerTopic, session: session, value: LinkQuestion.text(given.answer))
        }
    }

    /// The questions to this device, by session. Of two with one number, which is random, the lesser device's counts.
    private static func questions(in records: [PresenceRecord], to own: DeviceID) -> [UInt64: Question] {
        var questions: [UInt64: Question] = [:]
        for record in records.sorted(by: { $0.device < $1.device }) where record.device != own {
            for entry in record.entries where entry.topic == LinkQuestion.topic && questions[entry.session] == nil {
                // From another device: what it is not, it may be anything.
                guard let question = try? JSONDecoder().decode(LinkQuestion.self, from: Data(entry.value)),
                    question.asked == "\(own)"
                else { continue }
                questions[entry.session] = Question(asker: record.device, peer: question.peer)
            }
        }
        return questions
    }
}

extension PresenceBoard {
    /// Returns what a device answered to the question of a session of this one; nil: nothing yet.
    package func linkAnswer(of device: DeviceID, to session: UInt64, asker: DeviceID) -> LinkAnswer? {
        let entry = participants(in: LinkQuestion.answerTopic).first { $0.device == device && $0.session == session }
        let answer = entry.flatMap { try? JSONDecoder().decode(LinkAnswer.self, from: Data($0.value)) }
        return answer?.asker == "\(asker)" ? answer : nil
    }
}
