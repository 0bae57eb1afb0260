import Foundation
import Testing

extension Node {
    func dataFolder() throws -> String {
        try output("echo \"$LANYARD_DATA_DIR\"").trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Removes all that the node's stopped agent has: it begins as another device.
    func removeData() throws { try FileManager.default.removeItem(atPath: try dataFolder()) }
}

extension Rig {
    /// What all these nodes have is dropped from the logs of all of them.
    func dropHistory(on numbers: [Int]) throws {
        func restart(_ options: String...) throws {
            for number in numbers {
                try self("stop", "\(number)")
                try self(["start", "\(number)", "--"] + options)
            }
        }
        func dropped(_ number: Int) throws -> Int {
            try node(number).status().spaces.reduce(0) { $0 + Int($1.droppedChanges) }
        }
        let before = try numbers.map(dropped)
        try restart("--keep-history", "0s")
        try eventually(within: .seconds(180), "what all have is dropped everywhere") {
            try zip(numbers, before).allSatisfy { number, before in
                try node(number).lanyard("compact")
                return try dropped(number) > before
            }
        }
        try restart()
        try waitUntilAgree(numbers, within: .seconds(30))
    }
}
