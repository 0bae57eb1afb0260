import Foundation
import Testing

extension RigSuites.AttachmentStories {
    @Test func `two holders on slow cables send half each, and one of them may go in the middle`() throws {
        try StoryRig.tell { rig in
            try rig.onDemand([3]) {
                let films = try ["both", "one", "cut"].map { try attachFilm($0, rig) }
                // So slow that a holder that stands still for two seconds still sends its share.
                for number in [1, 2] {
                    try rig("link", "\(number)", "--rate", "40")
                    try rig.node(number).countShipping()
                }
                defer { for number in [1, 2] { _ = try? rig("link", "\(number)") } }
                let before = try sent(rig)
                var halfway: [Int] = []
                let fromBoth = try fetch(films[0], rig) {
                    try eventually(within: .seconds(60), "half has come") {
                        try rig.node(3).attachment(films[0].attachment.id, of: films[0].object)?.progress ?? 0 >= 0.5
                    }
                    halfway = zip(try sent(rig), before).map { $0 - $1 }
                }
                let shares = zip(try sent(rig), before).map { $0 - $1 }
                try rig("cut", "2", "3")
                let fromOne = try fetch(films[1], rig)
                try rig("heal")
                try rig.waitUntilAllConnected()
                let fromWhoStays = try fetch(films[2], rig) {
                    try eventually(within: .seconds(60), "a quarter has come") {
                        try rig.node(3).attachment(films[2].attachment.id, of: films[2].object)?.progress ?? 0 >= 0.25
                    }
                    try rig("cut", "1", "3")
                }
                try rig("heal")
                print(
                    "    \(Self.filmBytes >> 20) MiB from two: \(milliseconds(fromBoth)) ms (\(shares) bytes), from one: "
                        + "\(milliseconds(fromOne)) ms, from two of which one went: \(milliseconds(fromWhoStays)) ms")
                // By shares and not by times: on a busy machine the cables are not what takes the time.
                for share in halfway { #expect(share > Self.filmBytes / 8, "both cables carry the film at once") }
                for share in shares { #expect(share > Self.filmBytes / 3, "both cables carry the film") }
                #expect(fromOne >= .seconds(Double(Self.filmBytes) / 5e6 * 0.9), "one cable carries 40 Mbit/s")
                // What was asked of the one that went is asked of the other after two seconds of silence.
                #expect(fromWhoStays < fromOne * 1.3 + .seconds(5))
                for film in films { try rig.expectContent(film.attachment, of: film.object, film.file) }
                try rig.inStep()
            }
        }
    }

    /// The bytes that the agents of the two holders sent so far.
    private func sent(_ rig: Rig) throws -> [Int] { try [1, 2].map { try rig.node($0).shipping().sent } }

    private static var filmBytes: Int { Rig.isLong ? 256 << 20 : 64 << 20 }

    private struct Film {
        let object: String
        let file: LocalFile
        let attachment: Attachment
    }

    /// On nodes 1 and 2, and known to node 3.
    private func attachFilm(_ name: String, _ rig: Rig) throws -> Film {
        try rig.node(1).put("cable/\(name)", [:])
        let file = try rig.node(1).makeFile("cable-\(name).bin", bytes: Self.filmBytes)
        let film = Film(
            object: "cable/\(name)", file: file, attachment: try rig.node(1).attach("cable/\(name)", file))
        try rig.waitUntilPresent(film.attachment, of: film.object, on: [1, 2], within: .seconds(60))
        try rig.inStep()
        #expect(try rig.node(3).attachment(film.attachment.id, of: film.object)?.state == .missing)
        return film
    }

    /// Pinned on node 3, so that it comes; the body runs meanwhile.
    private func fetch(_ film: Film, _ rig: Rig, meanwhile: () throws -> Void = {}) throws -> Duration {
        let clock = ContinuousClock()
        let begun = clock.now
        try rig.node(3).lanyard("pin", film.attachment.id)
        try meanwhile()
        try rig.waitUntilPresent(film.attachment, of: film.object, on: [3], within: .seconds(120))
        return clock.now - begun
    }
}
