import ControlAPI
import SyncModel

/// A text as it is stored.
struct StoredText {
    var text: String
    /// Nil where the field is not one text of one life.
    var spans: [TextSpan]?
}

/// A text as it is now, and its latest edits in the order that all readers see, in each unit of offsets.
///
/// Bounded: older edits are forgotten, and a reader or an editor that still needs them begins anew with the whole text.
struct TextHistory {
    private static let maximumEntries = 2_048
    /// The steps of one entry; each costs a look at the text.
    private static let maximumSteps = 64
    /// Inserted text of all entries, in UTF-8, and their steps. These bound the memory, and the work of moving an edit over them.
    private static let maximumBytes = 1 << 20
    /// A step counts as so many bytes: with its offsets in each unit it takes about that.
    private static let stepBytes = 512

    /// One edit.
    struct Entry {
        /// The key of the request that made the edit; nil for others.
        let key: String?
        fileprivate var steps: [TextUnit: [TextSplice]] = [:]
        fileprivate var bytes = 0

        /// The steps, with offsets in `unit`.
        func steps(in unit: TextUnit) -> [TextSplice] { steps[unit] ?? [] }
    }

    private(set) var text: String
    /// The authors of the text, letter by letter; nil where the field is not one text of one life.
    private(set) var spans: [TextSpan]?
    /// The number of edits since the history began, forgotten ones included.
    private(set) var number = 0
    private var entries: ArraySlice<Entry> = []
    private var bytes = 0

    /// Begins a history with a text as it is stored.
    init(_ stored: StoredText) { (text, spans) = (stored.text, stored.spans) }

    // MARK: Reading

    /// Returns the edits behind the first `count`; nil if some of them are forgotten, or `count` is of no state that was.
    func entries(behind count: Int) -> ArraySlice<Entry>? {
        guard count <= number, number - count <= entries.count else { return nil }
        return entries.suffix(number - count)
    }

    // MARK: Recording

    /// Throws `index_out_of_range` for steps that fit to no text: others cannot be moved over them.
    func check(_ steps: [TextSplice], in unit: TextUnit) throws(ControlError) {
        guard steps.allSatisfy(\.isPossible) else { throw .outsideOfText(unit.count(text), unit) }
    }

    /// Returns the edit of these steps, and the text that it leaves. Nothing is recorded. Throws `index_out_of_range`,
    /// `inside_character`.
    func planned(
        _ steps: [TextSplice], in unit: TextUnit, key: String?
    ) throws(ControlError) -> (entry: Entry, text: String) {
        var entry = Entry(key: key)
        var text = text
        for step in steps {
            guard step.isPossible else { throw .outsideOfText(unit.count(text), unit) }
            let end = step.offset + step.deleted
            guard let lower = text.index(at: step.offset, in: unit), let upper = text.index(at: end, in: unit) else {
                let count = unit.count(text)
                throw end > count ? .outsideOfText(count, unit) : .insideScalar(step.offset, unit)
            }
            for each in TextUnit.allCases {
                entry.steps[each, default: []].append(
                    TextSplice(
                        offset: each == unit ? step.offset : text.offset(of: lower, in: each),
                        deleted: each == unit ? step.deleted : each.count(String(text[lower..<upper])),
                        inserted: step.inserted))
            }
            entry.bytes += step.inserted.utf8.count + Self.stepBytes
            text.unicodeScalars.replaceSubrange(lower..<upper, with: step.inserted.unicodeScalars)
        }
        return (entry, text)
    }

    /// Records an edit that was planned against the present text, and is stored.
    ///
    /// - Parameter spans: the authors of the text with it.
    mutating func record(_ planned: (entry: Entry, text: String), spans: [TextSpan]?) {
        (text, self.spans) = (planned.text, spans)
        number += 1
        entries.append(planned.entry)
        bytes += planned.entry.bytes
        while let first = entries.first, entries.count > Self.maximumEntries || bytes > Self.maximumBytes {
            bytes -= first.bytes
            entries.removeFirst()
        }
    }

    /// Records what others made of the text. Nothing, if it is the same.
    mutating func record(changeTo stored: StoredText) {
        if let steps = exactSteps(to: stored) {
            if steps.isEmpty {
                spans = stored.spans
                return
            }
            if let planned = try? planned(steps, in: .scalars, key: nil),
                planned.text.utf8.elementsEqual(stored.text.utf8)
            {
                return record(planned, spans: stored.spans)
            }
        }
        let steps = TextSplice.difference(from: text, to: stored.text, in: .scalars)
        // Steps of a difference lie inside of the text.
        guard !steps.isEmpty, let planned = try? planned(steps, in: .scalars, key: nil) else { return }
        record(planned, spans: stored.spans)
    }

    /// Returns the steps to what is stored, by the authors of each letter; nil where these are not known, or there are too many.
    private func exactSteps(to stored: StoredText) -> [TextSplice]? {
        guard let spans, let others = stored.spans, let steps = spans.steps(to: others, of: stored.text) else {
            return nil
        }
        return steps.count <= Self.maximumSteps ? steps : nil
    }
}

extension TextSplice {
    /// True if the step may lie inside of some text. Sums of such offsets and lengths do not overflow.
    fileprivate var isPossible: Bool {
        let range = 0...Int(Int32.max)
        return range.contains(offset) && range.contains(deleted)
    }
}

extension ControlError {
    fileprivate static func outsideOfText(_ count: Int, _ unit: TextUnit) -> ControlError {
        ControlError(
            .indexOutOfRange, "An edit is outside of the text, which has a length of \(count) (\(unit.rawValue)).",
            hint: "Offsets count from 0, in the text that the steps before left.")
    }

    fileprivate static func insideScalar(_ offset: Int, _ unit: TextUnit) -> ControlError {
        ControlError(
            .insideCharacter, "An edit at \(offset) (\(unit.rawValue)) begins or ends inside of a character.",
            hint: "Take the whole character: it has several units.")
    }
}
