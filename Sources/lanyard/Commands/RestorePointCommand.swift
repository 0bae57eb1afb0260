import ArgumentParser
import ControlAPI
import Glibc
import LanyardClient

struct RestorePoint: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore-point",
        abstract: "Make all objects what they were at a time, by new changes; shows them first.",
        discussion: """
            TIME is by this clock: '2026-11-26 14:00', 2026-11-26T14:00:00Z, or how long ago: 90m, 2h, 1d. Counted are the clocks \
            of the devices that wrote.
            Objects that were changed since become what they were, and those that were created since are deleted, on every \
            device. Those that were deleted since begin a new life under their id where the schema lets them (deletePolicy); \
            where a deletion is for good, as it is usually, they stay deleted, or with --recreate come back under new ids. \
            Events, attachments and schemas stay. So does an object whose history does not reach back so far, and one that is \
            changed meanwhile; they are named. The changes since then stay in the history: lanyard history COLLECTION/ID.
            """)
    @Argument(help: ArgumentHelp("The time.", valueName: "time"))
    var time: String
    @Flag(name: .customLong("dry-run"), help: "Show what would change; write nothing.")
    var isDryRun = false
    @Flag(help: "Write objects that were deleted for good under new ids.")
    var recreate = false
    @OptionGroup var confirmation: Confirmation
    @OptionGroup var global: GlobalOptions

    private static let shownObjects = 20

    func run() async throws {
        guard let time = PointInTime.parse(time, now: .now) else {
            throw ControlError(
                .invalidArgument, "\"\(shown(self.time))\" is no time.",
                hint: "For example '2026-11-26 14:00', 2026-11-26T14:00:00Z or 2h.")
        }
        let client = try global.client()
        let plan = try await client.restorePoint(at: time, recreate: recreate, space: global.space)
        guard !isDryRun, plan.count > 0 else { return try show(plan) }
        if !global.json { try show(plan) }
        try confirmation.ask("Write \(Amounts.count(plan.count, "change")) on every device?")
        Interruption.explain(
            "It was stopped; what was written stays.", hint: "Look at what is left: lanyard restore-point --dry-run",
            asJSON: global.json)
        let done = try await client.restore(to: time, recreate: recreate, space: global.space)
        if global.json {
            try global.print(done) { _ in "" }
        } else if !global.quiet {
            let renamed = done.objects.compactMap { object in
                object.newID.map { "\(shown(object.collection))/\(shown(object.id)) is \(shown($0)) now\n" }
            }
            try StandardOutput.write(renamed.joined() + Self.summary(done))
        }
        try report(done.kept, notIn: plan.kept)
    }

    private static func summary(_ done: RestorePointResponse) -> String {
        guard done.count > 0 else { return "Nothing was written.\n" }
        let restored = "\(Amounts.count(done.count, "object")) restored"
        guard let changes = done.changes, changes > 1 else { return "\(restored).\n" }
        return "\(restored) in \(changes) changes; lanyard undo takes back only the last of them.\n"
    }

    /// Names the objects that stay although the preview did not say so.
    ///
    /// - Throws: `object_incomplete` if there are any.
    private func report(_ kept: [RestorePointResponse.Kept], notIn known: [RestorePointResponse.Kept]) throws {
        func name(_ object: RestorePointResponse.Kept) -> String { "\(object.collection)/\(object.id)" }
        let shownBefore = Set(known.map(name))
        let unforeseen = kept.filter { !shownBefore.contains(name($0)) }
        guard !unforeseen.isEmpty else { return }
        for object in unforeseen.prefix(Self.shownObjects) {
            global.note("\(shown(name(object))) stays: \(object.reason)")
        }
        let stay = unforeseen.count == 1 ? "stays" : "stay"
        throw ControlError(
            .objectIncomplete,
            "\(Amounts.count(unforeseen.count, "object")) \(stay) as before.",
            hint: "See what is left with: lanyard restore-point --dry-run TIME")
    }

    private func show(_ plan: RestorePointResponse) throws {
        try global.print(plan) { style in
            if global.quiet { return "" }
            var text = "At \(TimeText.local.exact(plan.time)): "
            guard plan.count > 0 else {
                return text + "all \(plan.examined) objects were as they are.\n" + remarks(plan)
            }
            text += "\(plan.count) of \(Amounts.count(plan.examined, "object")) differed.\n"
            for object in plan.objects.prefix(Self.shownObjects) {
                let name = "\(shown(object.collection))/\(shown(object.id))"
                switch object.action {
                case .edit: text += "  \(style.careful("edit"))    \(name)\n"
                case .create: text += "  \(style.good("create"))  \(name)\n"
                case .delete: text += "  \(style.bad("delete"))  \(name)\n"
                }
            }
            if plan.count > Self.shownObjects {
                text += "  and \(Amounts.count(plan.count - Self.shownObjects, "more object")) (--json names them)\n"
            }
            return text + remarks(plan)
        }
    }

    private func remarks(_ plan: RestorePointResponse) -> String {
        var text = ""
        func names(_ code: ErrorCode) -> String? {
            let kept = plan.kept.filter { $0.code == code.rawValue }
            return kept.isEmpty ? nil : Amounts.some(kept.map { "\($0.collection)/\($0.id)" })
        }
        if let names = names(.notFound) {
            text += "Stay as they are, since their history does not reach back so far: \(names).\n"
        }
        if let names = names(.objectDeleted) {
            text += "Were deleted for good, and come back only under new ids (--recreate): \(names).\n"
        }
        if plan.deletionsForgotten {
            text += "Old deletions have been forgotten: objects that were deleted that long ago do not come back.\n"
        }
        return text + "Events, attachments and schemas stay as they are.\n"
    }
}

/// A moment as people type it.
enum PointInTime {
    /// Reads a date and time with a zone, one by the clock of this machine, or how long ago; nil for anything else.
    static func parse(_ text: String, now: Timestamp) -> Timestamp? {
        if let time = Timestamp(given: text) { return time }
        if let length = TimeLength(argument: text), text.last.map({ $0.isLetter }) ?? false {
            let (moment, overflows) = now.millisecondsSinceEpoch.subtractingReportingOverflow(
                Int64(length.milliseconds))
            return overflows || moment < 0 ? nil : Timestamp(millisecondsSinceEpoch: moment)
        }
        let numbers = text.split { "-T: ".contains($0) }.map { Int32($0) }
        let form = text.map { $0.isNumber ? "0" : $0 }
        guard
            ["0000-00-00 00:00", "0000-00-00T00:00", "0000-00-00 00:00:00", "0000-00-00T00:00:00"].contains(
                String(form)),
            let year = numbers[0], let month = numbers[1], let day = numbers[2], let hour = numbers[3],
            let minute = numbers[4], (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60
        else { return nil }
        var parts = tm()
        (parts.tm_year, parts.tm_mon, parts.tm_mday) = (year - 1_900, month - 1, day)
        (parts.tm_hour, parts.tm_min, parts.tm_isdst) = (hour, minute, -1)
        parts.tm_sec = numbers.count > 5 ? min(numbers[5] ?? 0, 59) : 0
        let seconds = mktime(&parts)
        // 31 February is no day: mktime(3) goes on with March.
        guard seconds >= 0, parts.tm_mday == day else { return nil }
        return Timestamp(millisecondsSinceEpoch: Int64(seconds) * 1_000)
    }
}
