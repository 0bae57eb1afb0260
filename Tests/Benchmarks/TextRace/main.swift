import Glibc
import ReplicatedTypes

// Our half of `deploy/bench text`: one task in a process of its own.
//
//     TextRace TASK RUNS ARGUMENT…
//
// Prints each figure as a line of JSON. `Tests/Benchmarks/text/peer.py` takes the same tasks for the other engines, and
// `race.py` there starts both and makes the traces flat.

private func run(_ task: String, _ runs: Int, _ arguments: [String]) throws {
    func argument(_ index: Int) throws -> String {
        guard index < arguments.count else { throw RaceFault(description: "\(task) needs more arguments") }
        return arguments[index]
    }
    func number(_ index: Int) throws -> Int {
        guard let number = Int(try argument(index)), number > 0 else {
            throw RaceFault(description: "\(task) needs a number above 0")
        }
        return number
    }
    func form() throws -> Encoding {
        guard let form = Encoding(rawValue: try argument(0)) else { throw RaceFault(description: "no such encoding") }
        return form
    }
    switch task {
    case "replay-each": try Replay.each(argument(0), runs: runs)
    case "replay-whole": try Replay.whole(argument(0), runs: runs)
    case "encode": try Replay.encode(argument(0), prefix: argument(1))
    case "load": try Opening.time(form(), file: argument(1), path: argument(2), runs: runs)
    case "memory-replay": try Replay.memory(argument(0))
    case "memory-load": try Opening.memory(form(), file: argument(1), path: argument(2))
    case "delta": try LastEdits.delta(argument(0), runs: runs)
    case "live": try LastEdits.live(argument(0), runs: runs)
    case "shared": try Merging.shared(argument(0), runs: runs)
    case "apart": try Merging.apart(base: argument(0), left: argument(1), right: argument(2), runs: runs)
    case "apart-each": try Merging.apartOneByOne(base: argument(0), left: argument(1), right: argument(2), runs: runs)
    case "branches": try WorstCases.branches(number(0), runs: runs)
    case "turns": try WorstCases.turns(number(0), runs: runs)
    case _: throw RaceFault(description: "no task is called \(task)")
    }
}

private let arguments = CommandLine.arguments.dropFirst()
if arguments.count < 2 {
    print("TextRace TASK RUNS ARGUMENT…: see Tests/Benchmarks/text/race.py")
} else {
    do {
        try run(arguments[1], Int(arguments[2]) ?? 1, Array(arguments.dropFirst(2)))
    } catch {
        let line = Array("TextRace: \(error)\n".utf8)
        write(STDERR_FILENO, line, line.count)
        exit(1)
    }
}
