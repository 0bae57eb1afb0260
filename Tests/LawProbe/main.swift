import LawHistories

// Runs the laws from a shell, and shows what must be the same in every process.
//
//     LawProbe search [--histories N] [--from SEED] [NAME…]
//     LawProbe digest [--histories N] [--from SEED] [NAME…]
var arguments = Array(CommandLine.arguments.dropFirst())
let mode = arguments.isEmpty ? "" : arguments.removeFirst()
var histories: Int?
var first: UInt64 = 1
var names: [String] = []
while !arguments.isEmpty {
    let argument = arguments.removeFirst()
    switch argument {
    case "--histories": histories = Int(arguments.removeFirst())
    case "--from": first = UInt64(arguments.removeFirst()) ?? first
    case _: names.append(argument)
    }
}
let subjects = names.isEmpty ? LawSubject.all : names.map { LawSubject.named($0) }
switch mode {
case "search":
    var hasFailed = false
    for subject in subjects {
        let clock = ContinuousClock()
        var failure: LawSubject.Failure?
        let count = histories ?? subject.histories
        let time = clock.measure { failure = subject.search(from: first, count: count) }
        print("\(subject.name): \(count) in \(time)")
        if let failure {
            print(failure)
            hasFailed = true
        }
    }
    if hasFailed { throw LawBroken() }
case "digest":
    // Says that this process orders its dictionaries in its own way.
    print("hash seed", "a".hashValue)
    for subject in subjects { print(subject.name, try subject.digest(from: first, count: histories ?? 100)) }
case _: print("LawProbe search|digest [--histories N] [--from SEED] [NAME…]")
}

struct LawBroken: Error {}
