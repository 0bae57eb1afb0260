/// What the tests read of the command's JSON. Keys that are not named here may come and go.

struct Status: Decodable {
    struct Device: Decodable { let id: String }
    struct Discovery: Decodable { let state: String }
    struct Space: Decodable {
        let name: String
        let changes: Int
        let droppedChanges: Int
        let deletedObjects: Int
        let events: Int
        let digest: String
        let conflicts: Int
        let versionVector: [String: UInt64]
    }
    struct PeerCounts: Decodable {
        let connected: Int
        let discovered: Int
        let paired: Int
    }
    struct Store: Decodable { let state: String }
    struct Warning: Decodable {
        let code: String
        let hint: String
    }

    let device: Device
    let uptimeSeconds: Int
    let discovery: Discovery
    let spaces: [Space]
    let peers: PeerCounts
    let store: Store
    let warnings: [Warning]
}

struct Peer: Decodable {
    let id: String?
    let name: String?
    let state: String
    let paired: Bool
    let address: String?
    let via: String?
}

struct Why: Decodable {
    struct Link: Decodable {
        let link: String
        let ok: Bool
        let detail: String?
    }
    let inStep: Bool
    let chain: [Link]
    let hint: String?

    var firstBroken: Link? { chain.first { !$0.ok } }
}

struct Emitted: Decodable {
    let count: Int
    let first: String?
    let last: String?
}

struct StreamEvent: Decodable {
    struct Payload: Decodable, Equatable {
        let from: String?
        let number: Int?
    }
    let dot: String
    let payload: Payload
    let position: UInt64
    let redelivered: Bool
}

struct Ticket: Decodable {
    let ticket: String
}
