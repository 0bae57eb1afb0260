/// The definition of a metric: what the exposition and the page `deploy/METRICS.md` say of it.
///
/// Invariants, which a test holds: the name is unique, begins with `lanyard_`, ends in the unit if there is one, and in
/// none of the suffixes of samples (`_total`, `_bucket`, `_sum`, `_count`, `_info`, `_created`).
package struct Metric: Sendable, Equatable {
    package enum Kind: String, Sendable {
        /// Grows while the agent runs; its samples end in `_total`.
        case counter
        case gauge
        /// Samples end in `_bucket`, `_sum`, `_count`.
        case histogram
        /// Always 1, its labels say something; its sample ends in `_info`.
        case info
    }

    /// The name of the metric family (OpenMetrics 1.0).
    package let name: String
    package let kind: Kind
    /// The unit, which the name ends in; nil for 0 or 1 and for what has none.
    package let unit: String?
    /// A sentence.
    package let help: String
    /// The names of the labels, in their order.
    package let labels: [String]

    init(_ name: String, _ kind: Kind, _ help: String, labels: [String] = []) {
        self.init(name, kind, nil, help, labels: labels)
    }

    init(_ name: String, _ kind: Kind, _ unit: String?, _ help: String, labels: [String] = []) {
        self.name = "lanyard_" + name
        self.kind = kind
        self.unit = unit
        self.help = help
        self.labels = labels
    }

    /// The name that people type into a query; of a histogram the part before `_bucket`, `_sum` and `_count`.
    package var sampleName: String {
        switch kind {
        case .counter: name + "_total"
        case .info: name + "_info"
        case .gauge, .histogram: name
        }
    }
}
