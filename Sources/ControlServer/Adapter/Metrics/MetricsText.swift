import ControlAPI
package import SyncStore

/// The samples of one scrape, and how they are written.
///
/// A label's value comes from a peer at times: what is unsafe on a terminal is shown as U+FFFD, and the rest escaped as
/// the format wants it, so that no name makes a line of its own.
package struct MetricsText: Sendable {
    package enum Format: Sendable {
        /// OpenMetrics 1.0: `application/openmetrics-text`.
        case openMetrics
        /// Prometheus' text format 0.0.4, for programs that know nothing newer: `text/plain`.
        case prometheus

        package var contentType: String {
            switch self {
            case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
            case .prometheus: "text/plain; version=0.0.4; charset=utf-8"
            }
        }

        /// Returns the format for an `Accept` header: OpenMetrics, unless only plain text is asked for.
        package init(accept: String?) {
            let accept = accept?.lowercased() ?? ""
            let isPlain = accept.contains("text/plain") && !accept.contains("application/openmetrics-text")
            self = isPlain ? .prometheus : .openMetrics
        }
    }

    /// The lines of one metric, without its name: labels in braces or nothing, a suffix before them, and the value.
    private struct Sample: Sendable {
        let suffix: String
        let labels: String
        let value: String
    }

    private var samples: [String: [Sample]] = [:]

    package init() {}

    // MARK: Samples

    /// Adds a sample of a metric in the table, with a value for each of its labels in order.
    package mutating func add(_ name: String, _ labels: [String], _ value: some MetricValue) {
        add(name, labels, text: value.metricText)
    }

    package mutating func add(_ name: String, _ value: some MetricValue) { add(name, [], text: value.metricText) }

    private mutating func add(_ name: String, _ labels: [String], text: String) {
        guard let metric = Self.metric(name, labels) else { return }
        let suffix =
            switch metric.kind {
            case .counter: "_total"
            case .info: "_info"
            case .gauge, .histogram: ""
            }
        samples[metric.name, default: []].append(
            Sample(suffix: suffix, labels: Self.text(metric.labels, labels), value: text))
    }

    package mutating func add(_ name: String, _ labels: [String], _ counts: DurationCounts) {
        guard let metric = Self.metric(name, labels) else { return }
        let cumulative = counts.cumulative
        var lines: [Sample] = []
        for (index, count) in cumulative.enumerated() {
            let bound = index < counts.bounds.count ? counts.bounds[index].metricText : "+Inf"
            lines.append(
                Sample(
                    suffix: "_bucket", labels: Self.text(metric.labels + ["le"], labels + [bound]), value: "\(count)"))
        }
        let own = Self.text(metric.labels, labels)
        lines.append(Sample(suffix: "_sum", labels: own, value: counts.sumSeconds.metricText))
        lines.append(Sample(suffix: "_count", labels: own, value: "\(cumulative.last ?? 0)"))
        samples[metric.name, default: []] += lines
    }

    private static let table = Dictionary(uniqueKeysWithValues: MetricTable.all.map { ($0.name, $0) })

    /// Returns the definition. A sample without one is left out: what is not in the table is on no page.
    private static func metric(_ name: String, _ labels: [String]) -> Metric? {
        let metric = table["lanyard_" + name]
        assert(metric?.labels.count == labels.count, "\(name) with \(labels) is not in MetricTable")
        return metric?.labels.count == labels.count ? metric : nil
    }

    // MARK: Text

    /// Returns the exposition: every metric of the table, in its order, also those without a sample.
    package func text(_ format: Format) -> String {
        var text = ""
        text.reserveCapacity(64 << 10)
        for metric in MetricTable.all {
            let name = format == .openMetrics ? metric.name : metric.sampleName
            text += "# HELP \(name) \(Self.escaped(metric.help, quotes: format == .openMetrics))\n"
            text += "# TYPE \(name) \(Self.type(metric.kind, format))\n"
            if format == .openMetrics, let unit = metric.unit { text += "# UNIT \(name) \(unit)\n" }
            for sample in samples[metric.name] ?? [] {
                text += metric.name
                text += sample.suffix
                text += sample.labels
                text += " "
                text += sample.value
                text += "\n"
            }
        }
        if format == .openMetrics { text += "# EOF\n" }
        return text
    }

    private static func type(_ kind: Metric.Kind, _ format: Format) -> String {
        kind == .info && format == .prometheus ? "gauge" : kind.rawValue
    }

    private static func text(_ names: [String], _ values: [String]) -> String {
        guard !names.isEmpty else { return "" }
        let pairs = zip(names, values).map { "\($0)=\"\(escaped(TerminalText.line($1), quotes: true))\"" }
        return "{" + pairs.joined(separator: ",") + "}"
    }

    private static func escaped(_ text: String, quotes: Bool) -> String {
        guard text.utf8.contains(where: { $0 == UInt8(ascii: "\\") || $0 == UInt8(ascii: "\"") || $0 == 0x0A })
        else { return text }
        var escaped = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": escaped.append(contentsOf: "\\\\".unicodeScalars)
            case "\n": escaped.append(contentsOf: "\\n".unicodeScalars)
            case "\"" where quotes: escaped.append(contentsOf: "\\\"".unicodeScalars)
            case _: escaped.append(scalar)
            }
        }
        return String(escaped)
    }
}

/// A value that a sample can have.
package protocol MetricValue {
    /// The number as the format wants it.
    var metricText: String { get }
}

extension Int: MetricValue {
    package var metricText: String { "\(self)" }
}

extension Double: MetricValue {
    /// A value that is no number is written as 0; no source of ours gives one.
    package var metricText: String { isFinite ? "\(self)" : "0.0" }
}

extension Bool: MetricValue {
    package var metricText: String { self ? "1" : "0" }
}
