import ControlAPI
import SyncModel

/// A text as it is now, and its latest edits in the order that all readers see, in each unit of offsets.
///
/// Bounded: older edits are forgotten, and a reader or an editor that still needs them begins anew with the whole text.
struct TextHistory {
    private static let maximumEntries = 2_048
    /// Inserted text of all entries, in UTF-8.
    private static let maximumBytes = 1 << 20

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
    /// The number of edits since the history began, forgotten ones included.
    private(set) var number = 0
    private var entries: ArraySlice<Entry> = []
    private var bytes = 0

    /// Begins a history with this text.
    init(_ text: String) { self.text = text }

    // MARK: Reading

    /// Returns the edits behind the first `count`; nil if some of them are forgotten, or `count` is of no state that was.
    func entries(behind count: Int) -> ArraySlice<Entry>? {
        guard count <= number, number - count <= entries.count else { return nil }
        return entries.suffix(number - count)
    }

    // MARK: Recording

    /// Returns the edit of these steps, and the text that it leaves. Nothing is recorded. Throws `index_out_of_range`,
    /// `inside_character`.
    func planned(
        _ steps: [TextSplice], in unit: TextUnit, key: String?
    ) throws(ControlError) -> (entry: Entry, text: String) {
        var entry = Entry(key: key)
        var text = text
        for step in steps {
            guard step.deleted >= 0, case (let end, false) = step.offset.addingReportingOverflow(step.deleted),
                step.offset >= 0, end <= unit.count(text)
            else { throw .outsideOfText(unit.count(text), unit) }
            guard let lower = text.index(at: step.offset, in: unit), let upper = text.index(at: end, in: unit) else {
                throw .insideScalar(step.offset, unit)
            }
            for each in TextUnit.allCases {
                entry.steps[each, default: []].append(
                    TextSplice(
                        offset: each == unit ? step.offset : text.offset(of: lower, in: each),
                        deleted: each == unit ? step.deleted : each.count(String(text[lower..<upper])),
                        inserted: step.inserted))
            }
            entry.bytes += step.inserted.utf8.count
            text.unicodeScalars.replaceSubrange(lower..<upper, with: step.inserted.unicodeScalars)
        }
        return (entry, text)
    }

    /// Records an edit that was planned against the present text.
    mutating func record(_ planned: (entry: Entry, text: String)) {
        text = planned.text
        number += 1
        entries.append(planned.entry)
        bytes += planned.entry.bytes
        while let first = entries.first, entries.count > Self.maximumEntries || bytes > Self.maximumBytes {
            bytes -= first.bytes
            entries.removeFirst()
        }
    }

    /// Records what others made of the text. Nothing, if it is the same.
    mutating func record(changeTo target: String) {
        guard !text.utf8.elementsEqual(target.utf8) else { return }
        let steps = TextEdit.difference(from: text, to: target).map {
            TextSplice(offset: $0.offset, deleted: $0.deletedCount, inserted: $0.inserted)
        }
        // Steps of a difference lie inside of the text.
        guard let planned = try? planned(steps, in: .scalars, key: nil) else { return }
        record(planned)
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
