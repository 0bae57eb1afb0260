// Discovery alone, driven by lines on standard input, telling what it hears as JSON lines: what the tests put on a wire.
//
//   publish PORT [TAG]   withdraw   refresh   stop
//
// Arguments: --no-mdns, --announce ADDRESS (repeatable). NODE in the environment says which machine speaks.

import Foundation
import SyncDiscovery

let node = Int(ProcessInfo.processInfo.environment["NODE"] ?? "") ?? 0

func print(_ line: ProbeLine) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard var bytes = try? encoder.encode(line) else { return }
    bytes.append(UInt8(ascii: "\n"))
    // One write per line: several machines share the pipe.
    try? FileHandle.standardOutput.write(contentsOf: bytes)
}

let arguments = CommandLine.arguments.dropFirst()
let announced = zip(arguments, arguments.dropFirst()).filter { $0.0 == "--announce" }.map(\.1)
let configuration = DiscoveryConfiguration(
    usesMulticast: !arguments.contains("--no-mdns"), announceAddresses: announced)

let discovery = AvahiDiscovery(configuration: configuration) { [node] event in
    print(ProbeLine(node: node, event: event))
}
discovery.start()

while let line = readLine() {
    let words = line.split(separator: " ").map(String.init)
    switch words.first {
    case "publish":
        let text = DiscoveryText(strings: words.dropFirst(2).map { Array("t=\($0)".utf8) })
        discovery.publish(DiscoveryAnnouncement(port: UInt16(words[1]) ?? 0, tag: text.tag))
    case "withdraw":
        discovery.publish(nil)
    case "refresh":
        discovery.refresh()
    case "stop":
        let clock = ContinuousClock()
        let begin = clock.now
        let ended = discovery.stop()
        print(ProbeLine(node: node, stopped: ended, milliseconds: Int((clock.now - begin) / .milliseconds(1))))
    case _:
        break
    }
}
