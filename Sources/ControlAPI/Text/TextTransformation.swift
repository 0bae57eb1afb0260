/// The rule by which edits of one text that were made apart are put in an order.
///
/// The agent applies edits in the order in which they come. An edit that was made against an earlier text is *transformed*: it
/// is moved over the edits that were ordered since, so that it does to the new text what it did to the one its author saw. A
/// client moves what comes from the agent over its own edits that are still on the way, by the same rule, and so shows the text
/// that the agent will have.
///
/// Two insertions at one offset: the text that was ordered later stands to the left. A user who types goes on to the right of
/// the last letter, so letters that come from the agent meanwhile do not come between. What two edits delete, they delete once;
/// a text that was inserted into a deleted range stays.
///
/// The law, tested over random histories: for edits `later` and `earlier` of one text,
/// `earlier, then later′` and `later, then earlier′` leave the same text.
package enum TextTransformation {
    /// Moves both lists of steps, made against the same text, over each other.
    ///
    /// - Parameters:
    ///   - later: the edits that are ordered later.
    ///   - earlier: the edits that are ordered earlier.
    /// - Returns: `later` as steps in the text that `earlier` leaves, and the other way round.
    package static func transform(
        _ later: [TextSplice], over earlier: [TextSplice], in unit: TextUnit
    ) -> (later: [TextSplice], earlier: [TextSplice]) {
        var later = later
        var moved: [TextSplice] = []
        moved.reserveCapacity(earlier.count)
        for step in earlier {
            // The step crosses all later ones, and may come out as several.
            var crossing = [step]
            var crossed: [TextSplice] = []
            crossed.reserveCapacity(later.count)
            for own in later {
                var own = [own]
                var left: [TextSplice] = []
                for part in crossing {
                    let both = cross(own, part, in: unit)
                    own = both.later
                    left += both.earlier
                }
                crossed += own
                crossing = left
            }
            later = crossed
            moved += crossing
        }
        return (later.filter { !$0.isEmpty }, moved.filter { !$0.isEmpty })
    }

    /// Moves steps that a single one came out as over one step, and that over them.
    private static func cross(
        _ later: [TextSplice], _ earlier: TextSplice, in unit: TextUnit
    ) -> (later: [TextSplice], earlier: [TextSplice]) {
        var crossing = [earlier]
        var moved: [TextSplice] = []
        for step in later {
            if crossing.count == 1 {
                moved += parts(of: step, over: crossing[0], isLater: true, in: unit)
                crossing = parts(of: crossing[0], over: step, isLater: false, in: unit)
            } else {
                let both = transform([step], over: crossing, in: unit)
                moved += both.later
                crossing = both.earlier
            }
        }
        return (moved, crossing)
    }

    /// Returns a step moved over one other: at most two, the right one first.
    private static func parts(
        of step: TextSplice, over other: TextSplice, isLater: Bool, in unit: TextUnit
    ) -> [TextSplice] {
        let inserted = unit.count(other.inserted)
        let otherEnd = other.offset + other.deleted
        let end = step.offset + step.deleted
        let staysLeft = step.offset < other.offset || isLater && step.offset == other.offset
        let offset = staysLeft ? step.offset : max(step.offset - other.deleted, other.offset) + inserted
        // The deleted units in front of the other step's place, and those behind what it deleted.
        let before = max(0, min(end, other.offset) - step.offset)
        let behind = max(0, end - max(step.offset, otherEnd))
        let behindStart = max(step.offset, otherEnd) - other.deleted + inserted
        if behind == 0 || behindStart == offset + before {
            return [TextSplice(offset: offset, deleted: before + behind, inserted: step.inserted)]
        }
        return [
            TextSplice(offset: behindStart, deleted: behind, inserted: ""),
            TextSplice(offset: offset, deleted: before, inserted: step.inserted),
        ]
    }
}
