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

/// The answer to a `LinkQuestion`, with the number of its session.
package struct LinkAnswer: Codable, Hashable, Sendable {
    /// The id of the device that asked.
    package let asker: String
    /// True if there is a session on the link.
    package let connected: Bool
    /// The round trip that was measured last on that session; nil: none was yet.
    package let roundTripMicroseconds: Int64?
}

/// The answers of this device, by the session of their question. An answer stands as it was given until its question is gone: one that
/// changed with each measurement would be signed and sent again each time.
struct LinkAnswers {
    private struct Question {
        let asker: DeviceID
        let peer: String
    }

    private var given: [UInt64: PresenceRecord.Entry] = [:]

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
            let link = links.first { $0.device.map { "\($0)" } == question.peer && $0.state == .connected }
            let roundTrip = link.flatMap { $0.newestRoundTrip ?? $0.roundTrip }
            let answer = LinkAnswer(
                asker: "\(question.asker)", connected: link != nil,
                roundTripMicroseconds: roundTrip.map { $0.nanoseconds / 1_000 })
            given[session] = PresenceRecord.Entry(
                topic: LinkQuestion.answerTopic, session: session, value: LinkQuestion.text(answer))
        }
        guard given != before else { return nil }
        return given.keys.sorted().compactMap { given[$0] }
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
