/// Answer of `lanyard why`: what keeps this node, a peer, an object or an attachment from being in step.
public struct WhyResponse: Codable, Equatable, Sendable {
    /// A link of the chain from "is there another agent" to "is it stored here".
    public enum LinkName: String, Codable, CaseIterable, Sendable {
        /// Other agents are seen.
        case discovery
        /// An address to dial is known.
        case address
        /// An agent listens at the address.
        case dial
        /// TLS came up.
        case handshake
        /// Both are members.
        case pairing
        /// `Hello` was exchanged.
        case session
        /// Both hold the same operations.
        case vector
        /// The bytes that this node wants arrive.
        case bytes
        /// Clocks agree within 60 s.
        case clock
        /// The local store takes writes.
        case store
    }

    /// A link of the chain: whether it holds, since when, and what is known about it.
    public struct Link: Codable, Equatable, Sendable {
        /// The name of the link.
        public var link: LinkName
        /// True if the link holds.
        public var ok: Bool
        /// The time since which it is so.
        public var since: Timestamp?
        /// The finding in one sentence.
        public var detail: String

        /// All fields.
        public init(_ link: LinkName, ok: Bool, since: Timestamp? = nil, detail: String) {
            self.link = link
            self.ok = ok
            self.since = since
            self.detail = detail
        }
    }

    /// An error that happened on the way, and how often.
    public struct Occurrence: Codable, Equatable, Sendable {
        /// The stable code that programs compare.
        public var code: String
        /// The time at which it happened last.
        public var time: Timestamp
        /// The number of times since the agent started.
        public var count: Int

        /// All fields.
        public init(code: String, time: Timestamp, count: Int) {
            self.code = code
            self.time = time
            self.count = count
        }
    }

    /// The part of what is stored here that a device has not said to hold.
    public struct Lacking: Codable, Equatable, Sendable {
        /// The most objects that are named.
        public static let mostObjects = 20

        /// The number of changes.
        public var changes: Int
        /// The objects, as `COLLECTION/ID`, whose newest version is among them, newest first; of many only the newest.
        public var objects: [String]

        /// All fields.
        public init(changes: Int, objects: [String]) {
            self.changes = changes
            self.objects = objects
        }
    }

    /// True if every link holds.
    public var inStep: Bool
    /// The links in their order; the first broken one is the cause.
    public var chain: [Link]
    /// Errors on the way, newest first.
    public var errors: [Occurrence]
    /// The time at which the agent tries again by itself.
    public var nextAttempt: Timestamp?
    /// The next thing to do about the first broken link; empty when in step.
    public var hint: String
    /// The changes that the device that was asked about lacks; null for another question, and for a device that has not said
    /// what it holds.
    public var lacking: Lacking?
    /// The names of the devices that have not said to hold the newest version of the object that was asked about; null
    /// for another question.
    public var lackedBy: [String]?
    /// The sentence that `status` says about this node's space; null for another question, and from an agent of a version
    /// that does not make it.
    public var sentence: String?

    /// All fields.
    public init(
        inStep: Bool, chain: [Link], errors: [Occurrence] = [], nextAttempt: Timestamp? = nil, hint: String,
        lacking: Lacking? = nil, lackedBy: [String]? = nil, sentence: String? = nil
    ) {
        self.lacking = lacking
        self.lackedBy = lackedBy
        self.sentence = sentence
        self.inStep = inStep
        self.chain = chain
        self.errors = errors
        self.nextAttempt = nextAttempt
        self.hint = hint
    }
}
