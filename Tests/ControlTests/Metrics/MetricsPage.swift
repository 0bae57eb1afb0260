import ControlServer

/// The page about metrics, `deploy/METRICS.md`, as the table in the code gives it.
enum MetricsPage {
    static var text: String {
        var text = """
            # Metrics

            What `GET /metrics` answers, in OpenMetrics 1.0; with `Accept: text/plain` the same in Prometheus' text format
            0.0.4. How to scrape it, alerts and a dashboard: [monitoring](monitoring/README.md). This page is made from
            `ControlServer/Adapter/Metrics/MetricTable.swift`, the table from which the answer is made, too:

            ```sh
            LANYARD_METRICS_PAGE=write deploy/test --only unit --filter MetricsPageTests
            ```

            The names are those of samples. A histogram has the samples `_bucket` with the label `le`, `_sum` and `_count`.
            Labels: `peer` is the name that a member was given, `device` its whole id, which alone is unique; `space` is
            `home`. `code` and `reason` are the codes of logs and `lanyard why`. A metric without a sample is one of which
            nothing is known yet.

            """
        for group in MetricTable.groups {
            text += "\n## \(group.title)\n\n| name | type | unit | labels | |\n|---|---|---|---|---|\n"
            for metric in group.metrics {
                let labels = metric.labels.map { "`\($0)`" }.joined(separator: ", ")
                text += "| `\(metric.sampleName)` | \(metric.kind.rawValue) | \(metric.unit ?? "") | \(labels) | "
                text += "\(metric.help) |\n"
            }
        }
        return text
    }
}
