import ArgumentParser
import ControlAPI
import LanyardClient

struct Restore: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Put back what lanyard backup saved, before the agent is started.",
        usage: "lanyard restore FILE|- [--force] [--data-dir PATH] [OPTIONS]",
        discussion: """
            The agent must not run. Into an empty data directory, unless --force is given: then what is there is moved aside, \
            into a folder beside the rest; nothing is removed. The whole file is checked before anything takes its place.
            Afterwards the device that was saved is here, as it was then. What it wrote later comes back from the \
            devices that have it. Never run one device twice: to add another beside one that still lives, start an agent \
            there and use invite and join.
            """)
    @Argument(help: "The backup; - for standard input.", completion: .file())
    var file: String
    @Flag(name: .shortAndLong, help: "Move aside what is in the data directory.")
    var force = false
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        Interruption.explain(
            "It was stopped; nothing was restored.", hint: "Restore it again.", asJSON: global.json)
        let location = global.location
        let directory = location.dataDirectory
        let answer: RestoreAnswer
        if file == "-" {
            answer = try await restore(StandardInput(), size: nil, into: directory)
        } else {
            let input = try FileInput(path: RawArgument.bytes(of: file))
            answer = try await restore(input, size: input.size, into: directory)
        }
        try global.print(answer) { _ in global.quiet ? "" : answer.text }
        global.note(
            """
            Never run this beside the original: while that still runs, remove \(directory) and let this machine join \
            as a new device instead (lanyard invite there, lanyard join here).
            Start it with: \(location.startCommand)
            """)
    }

    private func restore<Chunks: AsyncSequence>(
        _ chunks: Chunks, size: UInt64?, into directory: String
    ) async throws -> RestoreAnswer where Chunks.Element == [UInt8] {
        let display = ProgressDisplay("Restoring", of: size, isOn: !global.quiet && !global.json)
        defer { display.end() }
        var restoring = Restoring(directory: directory, replaces: force)
        for try await bytes in chunks {
            try restoring.append(bytes)
            display.add(bytes.count)
        }
        return try restoring.finish(at: .now)
    }
}

/// A backup on its way into a data directory.
private struct Restoring {
    let directory: String
    let replaces: Bool
    private var reader = BackupReader<BackupSHA256>()
    /// Nil before it is known that this is a backup, and one that can be restored.
    private var place: RestorePlace?
    private var file: RestoredFile?

    init(directory: String, replaces: Bool) {
        self.directory = directory
        self.replaces = replaces
    }

    mutating func append(_ bytes: [UInt8]) throws(ControlError) {
        reader.append(bytes)
        while let piece = try reader.next() {
            switch piece {
            case .file(let entry):
                try file?.finish()
                file = try openPlace().create(entry.name)
            case .bytes(let bytes): try file?.write(bytes)
            }
        }
    }

    private mutating func openPlace() throws(ControlError) -> RestorePlace {
        if let place { return place }
        let opened = try RestorePlace(directory, replaces: replaces)
        place = opened
        return opened
    }

    mutating func finish(at time: Timestamp) throws(ControlError) -> RestoreAnswer {
        try reader.finish()
        try file?.finish()
        file = nil
        guard let place, let header = reader.header else { preconditionFailure("a whole backup has files") }
        for blob in reader.leftOut { place.drop(blob: blob) }
        let aside = try place.finish(at: time)
        return RestoreAnswer(
            dataDirectory: directory, device: header.device, time: header.time, bytes: reader.byteCount,
            largeAttachments: reader.attachmentCount, leftOut: reader.leftOut, movedTo: aside)
    }
}

/// The restored backup, as JSON.
private struct RestoreAnswer: Encodable {
    let dataDirectory: String
    let device: BackupHeader.Device
    /// The time at which it was saved.
    let time: Timestamp
    let bytes: UInt64
    let largeAttachments: Int
    let leftOut: [String]
    /// The directory to which the earlier files were moved.
    let movedTo: String?

    var text: String {
        let moment = TimeText.local.exact(time)
        var text = "\(dataDirectory) is \(shown(device.name)) (\(device.shortID)) as of \(moment).\n"
        if let movedTo { text += "What was there is in \(movedTo).\n" }
        if !leftOut.isEmpty {
            text += "\(leftOut.count) of its attachments were not in the backup; other devices may have them.\n"
        }
        return text
    }
}
