import ArgumentParser
import ControlAPI
import LanyardClient

/// The options of a command that writes, and may wait for the disks of other devices.
struct DurableWrite: ParsableArguments {
    @Option(
        name: .customLong("wait-for"),
        help: ArgumentHelp(
            "Return once the write is on the disks of so many devices, this one included, by their own word.",
            valueName: "n"))
    var waitFor: Int?
    @Option(
        help: ArgumentHelp("With --wait-for: give up waiting after this time; the write stays.", valueName: "time"))
    var timeout: TimeLength?

    static let usualTimeout = TimeLength(milliseconds: 30_000)

    func validate() throws {
        if let waitFor { try Durability.check(devices: waitFor) }
        if let timeout {
            guard waitFor != nil else { throw ValidationError("--timeout goes with --wait-for.") }
            try Durability.check(timeout)
        }
    }

    /// Prints the answer of a write, which `--json` writes with `durableOn` if the command waited.
    ///
    /// - Parameter version: the last dot that was written; nil if nothing was.
    /// - Parameter count: the number of writes that were asked for.
    /// - Throws: `timed_out` after the answer was printed: the write stays. Also if nothing was written since all was there
    ///   already: on which devices that is durable is not known.
    func print(
        _ answer: some Encodable, version: DotText?, count: Int = 1, _ global: GlobalOptions,
        text: (Style) -> String
    ) async throws {
        guard let waitFor else { return try global.print(answer, text: text) }
        let client = try global.client()
        let durability: Result<DurabilityResponse, ControlError>
        if let version {
            Interruption.explain(
                "It was stopped while it waited. The write stays, and goes on to the others.",
                hint: Durability.question(version, waitFor, global), asJSON: global.json)
            durability = await Self.wait(
                for: version, on: waitFor, milliseconds: (timeout ?? Self.usualTimeout).milliseconds, client)
        } else {
            durability = .success(DurabilityResponse(reached: count == 0, devices: [], waitedSeconds: 0))
        }
        // The answer is printed in any case: it names the write, and the write stays.
        let devices = (try? durability.get().devices) ?? []
        if global.json {
            try StandardOutput.write(json: Self.json(answer, durableOn: devices) + [0x0A])
        } else {
            try StandardOutput.write(text(global.style))
        }
        guard let version else {
            guard count > 0 else { return }
            let space = global.space == "home" ? "" : " --space \(ShellWord.quoted(global.space))"
            throw ControlError(
                .timedOut, "Nothing was written: all was there already. On which devices it is durable is not known.",
                hint: "Ask with the version of an object (lanyard get --json COLLECTION/ID): "
                    + "lanyard wait --written VERSION --wait-for \(waitFor)\(space)")
        }
        try await Durability.report(try durability.get(), of: version, wanted: waitFor, client, global)
    }

    private static func wait(
        for version: DotText, on count: Int, milliseconds: Int, _ client: LanyardClient
    ) async -> Result<DurabilityResponse, ControlError> {
        do throws(ControlError) {
            return .success(try await client.untilDurable(version, on: count, timeoutMilliseconds: milliseconds))
        } catch {
            return .failure(
                ControlError(
                    error.code, "It was written, and what other devices have of it is not known: \(error.message)",
                    hint: error.hint))
        }
    }

    /// Returns the answer, an object, with one key more.
    private static func json(_ answer: some Encodable, durableOn devices: [String]) -> [UInt8] {
        var bytes = JSONEncoding.bytes(answer)
        precondition(bytes.popLast() == UInt8(ascii: "}"), "the answer of a write is an object with keys")
        return bytes + Array(#","durableOn":"#.utf8) + JSONEncoding.bytes(devices) + [UInt8(ascii: "}")]
    }
}

/// The devices on whose disks a write is, for people.
enum Durability {
    static func check(devices: Int) throws(ValidationError) {
        guard (1...10_000).contains(devices) else { throw ValidationError("Wait for 1 to 10,000 devices.") }
    }

    static func check(_ timeout: TimeLength) throws(ValidationError) {
        guard (0...86_400_000).contains(timeout.milliseconds) else {
            throw ValidationError("The time to wait is at most 1d.")
        }
    }

    /// Says on which devices a write is durable.
    ///
    /// - Throws: `timed_out` where they are too few.
    static func report(
        _ durability: DurabilityResponse, of version: DotText, wanted: Int, _ client: LanyardClient,
        _ global: GlobalOptions
    ) async throws {
        let names = await DeviceNames(client, space: global.space)
        let holders = durability.devices.map { names[$0] }.joined(separator: ", ")
        if durability.reached { return global.note("Durable on \(holders).") }
        let waited = TimeText.seconds(durability.waitedSeconds)
        let found = durability.devices.isEmpty ? "no device" : "\(durability.devices.count) of \(wanted) (\(holders))"
        throw ControlError(
            .timedOut, "After \(waited) it is durable on \(found). The write stays, and goes on to the others.",
            hint: "\(question(version, wanted, global)). What is in the way: lanyard why")
    }

    /// The command that asks again.
    static func question(_ version: DotText, _ wanted: Int, _ global: GlobalOptions) -> String {
        let space = global.space == "home" ? "" : " --space \(ShellWord.quoted(global.space))"
        return "Ask again: lanyard wait --written \(version) --wait-for \(wanted)\(space)"
    }
}

extension TimeText {
    /// `0.3 s`.
    static func seconds(_ seconds: Double) -> String {
        let tenths = Int((seconds * 10).rounded())
        return "\(tenths / 10).\(tenths % 10) s"
    }
}
