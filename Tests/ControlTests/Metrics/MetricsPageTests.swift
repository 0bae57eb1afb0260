import Foundation
import Testing

import ControlServer

/// What is written outside of the code about metrics names those that the code defines.
@Suite struct MetricsPageTests {
    private static let deploy = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../deploy").standardized

    private static func file(_ path: String) throws -> String {
        try String(contentsOf: deploy.appending(path: path), encoding: .utf8)
    }

    /// The names of all samples.
    private static let samples = Set(
        MetricTable.all.flatMap { metric in
            metric.kind == .histogram ? ["_bucket", "_sum", "_count"].map { metric.name + $0 } : [metric.sampleName]
        })

    private static func names(in text: String) -> Set<String> {
        Set(text.matches(of: /\blanyard_[a-z0-9_]+/).map { String($0.output) })
    }

    @Test func `the page is the table`() throws {
        if ProcessInfo.processInfo.environment["LANYARD_METRICS_PAGE"] == "write" {
            try MetricsPage.text.write(
                to: Self.deploy.appending(path: "METRICS.md"), atomically: true, encoding: .utf8)
        }
        let page = try Self.file("METRICS.md")
        #expect(
            page == MetricsPage.text,
            "write it anew: LANYARD_METRICS_PAGE=write deploy/test --only unit --filter MetricsPageTests")
    }

    @Test(arguments: ["alerts.yml", "alerts.test.yml", "dashboard.json"])
    func `each metric named there is one of the table`(name: String) throws {
        let found = Self.names(in: try Self.file("monitoring/" + name))
        #expect(found.count >= 8)
        #expect(found.subtracting(Self.samples).sorted() == [])
    }

    @Test func `each label that an alert or a panel names is one of its metrics`() throws {
        let known = Set(MetricTable.all.flatMap(\.labels)).union(["instance", "job", "le"])
        let text = try Self.file("monitoring/alerts.yml") + Self.file("monitoring/dashboard.json")
        let selected = text.matches(of: /[{,]\s*([a-z_]+)\s*(?:=~|!~|!=|=)/).map { String($0.output.1) }
        let grouped = text.matches(of: /\b(?:by|on) \(([a-z_, ]+)\)/)
            .flatMap { $0.output.1.split(separator: ", ").map(String.init) }
        let shown = text.matches(of: /\{\{ *\$labels\.([a-z_]+)/).map { String($0.output.1) }
        #expect(!grouped.isEmpty && !selected.isEmpty && !shown.isEmpty)
        #expect(Set(selected + grouped + shown).subtracting(known).sorted() == [])
    }

    @Test func `the dashboard is a dashboard, and each panel asks something`() throws {
        let value = try JSONSerialization.jsonObject(with: Data(try Self.file("monitoring/dashboard.json").utf8))
        let dashboard = try #require(value as? [String: Any])
        let panels = try #require(dashboard["panels"] as? [[String: Any]])
        let ids = panels.compactMap { $0["id"] as? Int }
        #expect(Set(ids).count == panels.count)
        let graphs = panels.filter { $0["type"] as? String != "row" }
        #expect(graphs.count >= 16)
        for panel in graphs {
            let targets = panel["targets"] as? [[String: Any]] ?? []
            let questions = targets.compactMap { $0["expr"] as? String }
            #expect(
                !questions.isEmpty && questions.allSatisfy { !Self.names(in: $0).isEmpty }, "\(panel["title"] ?? "")")
        }
    }

    @Test func `there are at least eight alerts, each with a test and a next step`() throws {
        let rules = try Self.file("monitoring/alerts.yml")
        let alerts = rules.matches(of: /- alert: (\w+)/).map { String($0.output.1) }
        let tests = try Self.file("monitoring/alerts.test.yml")
        #expect(Set(alerts).count == alerts.count && alerts.count >= 8)
        #expect(rules.matches(of: /\n +next: "/).count == alerts.count)
        for alert in alerts { #expect(tests.contains("alertname: \(alert)\n"), "\(alert) has no test") }
    }

    /// Skipped where Debian's `prometheus` is missing; `deploy/test` installs it.
    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/promtool")))
    func `promtool takes the configuration and the alerts, and each alert fires and clears`() throws {
        let folder = Self.deploy.appending(path: "monitoring").path
        for arguments in [
            ["check", "config", folder + "/prometheus.yml"], ["check", "rules", folder + "/alerts.yml"],
            ["test", "rules", folder + "/alerts.test.yml"],
        ] {
            let (status, text) = try Promtool.run(arguments, input: "")
            #expect(status == 0, "promtool \(arguments): \(text)")
        }
    }
}
