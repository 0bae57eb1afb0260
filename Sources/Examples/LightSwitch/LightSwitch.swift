import Glibc
import Lanyard

/// A lamp that was switched, on any device.
struct Switched: LanyardEvent {
    var lamp = ""
    var on = false

    static var stream: String { "lights" }

    /// The stream shows the latest event of each type. The type is the lamp, so each lamp has one state.
    var eventType: String? { lamp }
}

@main struct LightSwitch {
    static func main() async {
        let words = Array(CommandLine.arguments.dropFirst())
        let lamp = words.count == 2 ? words[1] : "lamp"
        do {
            switch (words.first, words.count) {
            case ("on", 1...2): try await turn(lamp, on: true)
            case ("off", 1...2): try await turn(lamp, on: false)
            case ("watch", 1): try await watch()
            case _: end("Usage: light-switch on [LAMP] | light-switch off [LAMP] | light-switch watch", status: 2)
            }
        } catch let error as ControlError {
            end("light-switch: \(error.message) \(error.hint)", status: 1)
        } catch {
            end("light-switch: \(error)", status: 1)
        }
    }

    /// Switches a lamp. The event is durable on this machine when `emit` returns, also while no other device is reachable.
    static func turn(_ lamp: String, on: Bool) async throws {
        let home = try await Lanyard.connect()
        // Said by each device that switches: the first may be alone. It is written only where it is not so already.
        try await home.setStream(of: Switched.self, StreamSettings(latestOnly: true))
        try await home.emit(Switched(lamp: lamp, on: on))
    }

    /// Prints the state of each lamp, and again whenever it changes.
    static func watch() async throws {
        let home = try await Lanyard.connect()
        var lamps: [String: Bool] = [:]
        // Without a consumer the loop begins anew each time, which is right here: it is given one event for each lamp. An event
        // that comes late, because its device was away, is left out if a later one is here already.
        for try await event in home.events(of: Switched.self) {
            let (lamp, on) = (event.value.lamp, event.value.on)
            if lamps.updateValue(on, forKey: lamp) == on { continue }
            print("\(lamp) is \(on ? "on" : "off")")
            // Print keeps lines back when it writes into a pipe.
            fflush(nil)
        }
    }

    /// Ends the program with a sentence on standard error.
    static func end(_ sentence: String, status: Int32) -> Never {
        _ = (sentence + "\n").withCString { write(STDERR_FILENO, $0, strlen($0)) }
        exit(status)
    }
}
