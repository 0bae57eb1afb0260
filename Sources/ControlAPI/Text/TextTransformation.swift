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
        let moved = cross(later.map { Part($0, in: unit) }, earlier.map { Part($0, in: unit) })
        return (moved.later.compactMap(\.step), moved.earlier.compactMap(\.step))
    }

    private static func cross(_ later: [Part], _ earlier: [Part]) -> (later: [Part], earlier: [Part]) {
        var later = later
        var moved: [Part] = []
        moved.reserveCapacity(earlier.count)
        for step in earlier {
            // The step crosses all later ones, and may come out as several.
            var crossing = [step]
            var crossed: [Part] = []
            crossed.reserveCapacity(later.count + 1)
            for own in later {
                guard crossing.count == 1 else {
                    let both = cross([own], crossing)
                    crossed += both.later
                    crossing = both.earlier
                    continue
                }
                let (first, second) = own.moved(over: crossing[0], isLater: true)
                crossed.append(first)
                if let second { crossed.append(second) }
                let (left, right) = crossing[0].moved(over: own, isLater: false)
                crossing[0] = left
                if let right { crossing.append(right) }
            }
            later = crossed
            moved += crossing
        }
        return (later, moved)
    }

    /// A step whose insertion is counted once: it crosses many others, and may be long.
    private struct Part {
        var offset: Int
        var deleted: Int
        let inserted: String
        let length: Int

        init(_ step: TextSplice, in unit: TextUnit) {
            self.init(step.offset, step.deleted, step.inserted, unit.count(step.inserted))
        }

        private init(_ offset: Int, _ deleted: Int, _ inserted: String, _ length: Int) {
            self.offset = offset
            self.deleted = deleted
            self.inserted = inserted
            self.length = length
        }

        /// The step; nil if it changes no text.
        var step: TextSplice? {
            deleted == 0 && length == 0 ? nil : TextSplice(offset: offset, deleted: deleted, inserted: inserted)
        }

        /// Returns the step moved over one other: at most two, the right one first.
        func moved(over other: Part, isLater: Bool) -> (Part, Part?) {
            let otherEnd = other.offset + other.deleted
            let end = offset + deleted
            let staysLeft = offset < other.offset || isLater && offset == other.offset
            let place = staysLeft ? offset : max(offset - other.deleted, other.offset) + other.length
            // The deleted units in front of the other step's place, and those behind what it deleted.
            let before = max(0, min(end, other.offset) - offset)
            let behind = max(0, end - max(offset, otherEnd))
            let behindStart = max(offset, otherEnd) - other.deleted + other.length
            if behind == 0 || behindStart == place + before {
                return (Part(place, before + behind, inserted, length), nil)
            }
            return (Part(behindStart, behind, "", 0), Part(place, before, inserted, length))
        }
    }
}
