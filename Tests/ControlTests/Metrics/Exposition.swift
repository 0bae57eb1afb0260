import Foundation

/// An exposition taken apart as the OpenMetrics 1.0 text format wants it (ABNF of the specification). Each sentence in
/// `faults` is a line that a strict reader refuses.
struct Exposition {
    struct Sample: Hashable {
        let name: String
        let labels: [[String]]
        let value: Double
    }

    struct Family {
        var type: String?
        var unit: String?
        var help: String?
        var samples: [Sample] = []
    }

    private(set) var families: [String: Family] = [:]
    private(set) var faults: [String] = []
    private var order: [String] = []
    private var current: String?

    private static let suffixes = [
        "counter": ["_total", "_created"], "gauge": [""], "info": ["_info"],
        "histogram": ["_bucket", "_sum", "_count", "_created"],
    ]

    init(_ text: String) {
        if !text.hasSuffix("\n# EOF\n") { faults.append("it does not end in # EOF and one line break") }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        for (index, line) in lines.enumerated() {
            if line == "# EOF" {
                if index != lines.count - 1 { faults.append("# EOF is not the last line") }
            } else if line.hasPrefix("#") {
                take(metadata: String(line))
            } else {
                take(sample: String(line))
            }
        }
        for name in order { check(name) }
        var seen: Set<[String]> = []
        for sample in families.values.flatMap(\.samples) {
            let key = [sample.name] + sample.labels.map { $0.joined(separator: "=") }.sorted()
            if !seen.insert(key).inserted { faults.append("\(key) stands twice") }
        }
    }

    /// The value of the one sample with these labels, given in any order.
    func value(_ name: String, _ labels: [String: String] = [:]) -> Double? {
        families.values.lazy.flatMap(\.samples).first { sample in
            sample.name == name && Dictionary(uniqueKeysWithValues: sample.labels.map { ($0[0], $0[1]) }) == labels
        }?.value
    }

    private mutating func take(metadata line: String) {
        let parts = line.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 4, parts[0] == "#", ["HELP", "TYPE", "UNIT"].contains(parts[1]) else {
            faults.append("no metadata: \(line)")
            return
        }
        let name = parts[2]
        if name.wholeMatch(of: /[a-zA-Z_:][a-zA-Z0-9_:]*/) == nil { faults.append("no name: \(line)") }
        if name != current, families[name] != nil { faults.append("\(name) is not in one piece") }
        if families[name] == nil { order.append(name) }
        var family = families[name] ?? Family()
        if !family.samples.isEmpty { faults.append("metadata behind samples: \(line)") }
        let isNews =
            switch parts[1] {
            case "TYPE": family.type == nil
            case "UNIT": family.unit == nil
            case _: family.help == nil
            }
        if !isNews { faults.append("twice: \(line)") }
        switch parts[1] {
        case "TYPE": family.type = parts[3]
        case "UNIT": family.unit = parts[3]
        case _: family.help = parts[3]
        }
        families[name] = family
        current = name
    }

    private mutating func take(sample line: String) {
        guard let name = line.prefixMatch(of: /[a-zA-Z_:][a-zA-Z0-9_:]*/).map({ String($0.output) }),
            let (labels, rest) = Self.labels(line.dropFirst(name.count))
        else {
            faults.append("no sample: \(line)")
            return
        }
        guard rest.first == " ", let value = Double(rest.dropFirst()), value.isFinite else {
            faults.append("no value: \(line)")
            return
        }
        guard let current, let type = families[current]?.type,
            (Self.suffixes[type] ?? []).contains(where: { current + $0 == name })
        else {
            faults.append("not of the family before it: \(line)")
            return
        }
        if Set(labels.map { $0[0] }).count != labels.count { faults.append("a label stands twice: \(line)") }
        families[current]?.samples.append(Sample(name: name, labels: labels, value: value))
    }

    /// Reads `{name="value",…}`, or nothing.
    private static func labels(_ text: Substring) -> ([[String]], Substring)? {
        guard text.first == "{" else { return ([], text) }
        var rest = text.dropFirst()
        var labels: [[String]] = []
        while rest.first != "}" {
            if !labels.isEmpty {
                guard rest.first == "," else { return nil }
                rest = rest.dropFirst()
            }
            guard let name = rest.prefixMatch(of: /[a-zA-Z_][a-zA-Z0-9_]*="/) else { return nil }
            rest = rest[name.range.upperBound...]
            var value = ""
            while let character = rest.popFirst(), character != "\"" {
                guard character == "\\" else {
                    value.append(character)
                    continue
                }
                switch rest.popFirst() {
                case "\\": value.append("\\")
                case "\"": value.append("\"")
                case "n": value.append("\n")
                case _: return nil
                }
            }
            labels.append([String(name.output.dropLast(2)), value])
        }
        return (labels, rest.dropFirst())
    }

    private mutating func check(_ name: String) {
        guard let family = families[name] else { return }
        if family.type == nil || family.help?.isEmpty ?? true { faults.append("\(name) has no type or no help") }
        if let unit = family.unit, !name.hasSuffix("_" + unit) { faults.append("\(name) does not end in \(unit)") }
        if family.type == "counter", family.samples.contains(where: { $0.value < 0 }) {
            faults.append("\(name) is below 0")
        }
        if family.type == "histogram" { checkHistogram(name, family) }
    }

    /// Buckets grow, end in +Inf, and agree with the count.
    private mutating func checkHistogram(_ name: String, _ family: Family) {
        func others(_ sample: Sample) -> [[String]] { sample.labels.filter { $0[0] != "le" } }
        for labels in Set(family.samples.map(others)) {
            let mine = family.samples.filter { others($0) == labels }
            let buckets = mine.filter { $0.name == name + "_bucket" }
            let bounds = buckets.compactMap { sample in sample.labels.first { $0[0] == "le" }?[1] }
            let numbers = bounds.map { $0 == "+Inf" ? Double.infinity : Double($0) ?? .nan }
            let isGrowing = zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 }
            let areCountsGrowing = zip(buckets, buckets.dropFirst()).allSatisfy { $0.value <= $1.value }
            let count = mine.first { $0.name == name + "_count" }?.value
            if !isGrowing || !areCountsGrowing || bounds.last != "+Inf" || buckets.last?.value != count {
                faults.append("the buckets of \(name) \(labels) are not in order")
            }
            if !mine.contains(where: { $0.name == name + "_sum" }) { faults.append("\(name) \(labels) has no sum") }
        }
    }
}
