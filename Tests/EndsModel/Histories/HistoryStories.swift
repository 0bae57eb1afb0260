extension Histories {
    /// A small history for each rule that the first draft lacked: it breaks without the rule.
    package static let needs: [Rule: History] = {
        let (a, b, c, d, e) = (0, 1, 2, 3, 4)
        // A retires C with B and D. B and D promised; A wrote the ends, and A and B are bound.
        let begun = [.sync(a, b), .sync(b, c), .sync(c, d), .sync(b, c), .sync(a, b), .propose(a, [c])] as [Move]
        let promised =
            [.sync(a, b), .sync(a, d), .step(a, .promise), .step(b, .promise), .step(d, .promise)] as [Move]
        let retired = [.sync(a, b), .sync(a, d), .step(a, .retire), .sync(a, b), .sync(a, d)] as [Move]
        return [
            // Both branches have two changes, and B forgets.
            .headsInAcknowledgements: History(
                devices: 2, away: [a],
                [
                    .write(a, object: 0), .copy(a), .write(a, object: 0), .sync(a, b), .putBack(a),
                    .write(a, object: 0),
                ]),
            // A releases and dies. D, bound, heard of it and took a note of C.
            .releasesOfTheGone: History(
                devices: 4,
                [.write(c, object: 2)] + begun + promised
                    + [
                        .sync(b, a), .sync(b, d), .step(b, .retire), .step(b, .bound), .sync(b, d), .step(d, .bound),
                        .step(a, .release), .sync(a, d), .write(c, object: 0), .sync(c, d), .die(a),
                    ]),
            // D releases and is away. It is let go, so C's tail is void and written again. Then the release is heard.
            .oneWriting: History(
                devices: 4, away: [d],
                [.write(c, object: 2)] + begun + promised + [.write(c, object: 0)] + retired
                    + [.step(d, .release), .step(a, .bound), .step(b, .bound)]),
            // A edits its note on a branch, under a new replica, before it hears that B holds the other one.
            .hangingWorkAgain: History(
                devices: 2,
                [
                    .write(a, object: 0), .sync(a, b), .copy(a), .write(a, object: 0), .sync(a, b), .putBack(a),
                    .write(a, object: 1), .write(a, object: 1), .sync(a, b), .edit(a, of: a),
                ]),
            // E has state of A's note, wrote, and holds a branch of C that goes. D, which has the note, is away.
            .wholeFromCovering: History(
                devices: 4, guests: 1, away: [d],
                [
                    .write(a, object: 0), .write(c, object: 0), .sync(a, b), .sync(b, c), .sync(c, d), .sync(b, c),
                    .sync(a, b), .step(a, .forget), .copy(a), .copy(c), .write(a, object: 1), .write(c, object: 2),
                    .sync(a, c), .sync(a, d), .admit(e, by: a), .write(e, object: 0), .putBack(a), .putBack(c),
                    .write(c, object: 1), .sync(c, b),
                ]),
            // A's disk forgets that it is bound, and takes a note of C from C.
            .forgottenBounds: History(
                devices: 3,
                [
                    .sync(a, b), .sync(b, c), .sync(a, b), .write(c, object: 0), .copy(a), .propose(a, [c]),
                    .sync(a, b),
                    .step(a, .promise), .step(b, .promise), .sync(a, b), .step(b, .retire), .sync(a, b),
                    .step(a, .bound), .sync(a, b), .step(b, .bound), .putBack(a), .sync(a, c), .sync(a, b),
                ]),
            // C and E are away and let go. E had admitted I, which dies.
            .guestsGoToo: History(
                devices: 8, guests: 1, away: [c, e], [.write(c, object: 0), .admit(8, by: e), .die(8)]),
            // A newcomer that B admitted brings B's note to A, behind the ends that A wrote.
            .boundChecks: History(
                devices: 2, guests: 1, away: [b],
                [.write(b, object: 0), .propose(a, [b]), .step(a, .promise), .step(a, .retire), .admit(c, by: b)]),
            // C is let go and back with D and E, which then outnumber A and B, which had let D and E go.
            .returnsAreNewcomers: halves,
            // C proposes B and dies. A lets C go, too.
            .boundPromises: History(
                devices: 3, away: [b], [.propose(c, [b]), .step(c, .promise), .sync(a, c), .die(c)]),
        ]
    }()

    /// A and B, and D and E, propose each other while C still counts. All let C go, and each half goes on alone.
    package static let halves: History = {
        let (a, b, c, d, e) = (0, 1, 2, 3, 4)
        let together = [.sync(a, b), .sync(b, d), .sync(d, e), .sync(b, d), .sync(a, b)] as [Move]
        func all(_ step: Step) -> [Move] { [a, b, d, e].map { .step($0, step) } + together }
        func alone(_ one: Device, _ other: Device) -> [Move] {
            [.promise, .retire, .bound].flatMap { step -> [Move] in
                [.step(one, step), .step(other, step), .sync(one, other)]
            }
        }
        let meet =
            [.sync(a, b), .sync(b, c), .sync(c, d), .sync(d, e), .sync(c, d), .sync(b, c), .sync(a, b)] as [Move]
        return History(
            devices: 5, away: [a, b],
            meet + meet + [.propose(b, [c]), .propose(d, [a, b]), .propose(a, [d, e])] + together + all(.promise)
                + all(.retire) + all(.bound) + alone(a, b) + alone(d, e))
    }()

    /// Histories for planted bugs that random ones seldom meet.
    package static let plots: [PlantedBug: History] = {
        var plots = [PlantedBug.noSecondMajority: halves]
        plots[.countsBothWritings] = needs[.oneWriting]
        return plots
    }()

    /// A history for each kind that is known to break the rules that stand.
    package static let known: [Break.Kind: History] = {
        let (a, b, c, d) = (0, 1, 2, 3)
        return [
            .releaseForgotten: History(
                devices: 3,
                [
                    .sync(a, b), .sync(b, c), .sync(a, b), .propose(a, [b]), .sync(a, c), .step(a, .promise),
                    .step(c, .promise), .sync(a, c), .step(a, .retire), .sync(a, c), .step(a, .bound), .sync(a, c),
                    .copy(c), .step(c, .release), .sync(c, a), .putBack(c), .step(c, .bound), .write(b, object: 0),
                    .sync(a, b), .sync(a, c),
                ]),
            .proofsOnTwoBranches: History(
                devices: 2,
                [
                    .write(a, object: 0), .copy(a), .write(a, object: 0), .sync(a, b), .step(b, .forget), .putBack(a),
                    .write(a, object: 1),
                    .propose(a, [b]), .step(a, .promise), .step(a, .retire), .step(a, .bound), .step(a, .forget),
                ]),
            .contextOfOtherBranch: History(
                devices: 2,
                [
                    .write(b, object: 0), .sync(a, b), .copy(b), .write(b, object: 0), .sync(a, b),
                    .delete(a, object: 0),
                    .putBack(b), .write(b, object: 0), .sync(a, b),
                ]),
            // C is back, and A, which died before it was bound, can never acknowledge that.
            .returnWithoutMajority: History(
                devices: 3, away: [c],
                [.propose(a, [c]), .step(a, .promise), .write(c, object: 2), .sync(a, b), .die(a)]),
            .onlyCopyIsState: History(
                devices: 3, guests: 1,
                [
                    .write(a, object: 0), .write(c, object: 0), .sync(a, b), .sync(b, c), .sync(a, b),
                    .step(a, .forget),
                    .copy(a), .copy(c),
                    .write(a, object: 1), .write(c, object: 2), .sync(a, c), .admit(d, by: a), .write(d, object: 0),
                    .putBack(a), .putBack(c), .write(c, object: 1), .sync(c, b),
                ]),
        ]
    }()
}
