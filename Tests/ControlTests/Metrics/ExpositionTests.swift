import ControlAPI
import Foundation
import SyncStore
import Testing

import ControlServer

/// The text of metrics, without an agent.
@Suite struct ExpositionTests {
    @Test func `the table holds to its rules`() {
        #expect(MetricTable.all.count >= 60)
        #expect(MetricTable.all.count { $0.unit != nil } >= 60)
        #expect(Set(MetricTable.all.map(\.name)).count == MetricTable.all.count)
        for metric in MetricTable.all {
            #expect(metric.name.wholeMatch(of: /lanyard_[a-z0-9_]*[a-z0-9]/) != nil, "\(metric.name)")
            for suffix in ["_total", "_bucket", "_sum", "_count", "_info", "_created"] {
                #expect(!metric.name.hasSuffix(suffix), "\(metric.name)")
            }
            if let unit = metric.unit { #expect(metric.name.hasSuffix("_" + unit), "\(metric.name) in \(unit)") }
            #expect(metric.help.hasSuffix(".") && !metric.help.contains("|"), "\(metric.help)")
            #expect(Set(metric.labels).count == metric.labels.count)
        }
    }

    @Test func `an empty scrape is valid, and names every metric`() {
        let exposition = Exposition(MetricsText().text(.openMetrics))
        #expect(exposition.faults == [])
        #expect(exposition.families.count == MetricTable.all.count)
    }

    @Test func `a hostile name stays inside its quotes`() {
        let names = [
            "a\"} 1\nlanyard_store_ok 0\n# EOF\n", "back\\slash\\", "\\n", "tab\t\u{1b}[31m\u{202e}", "",
            "é ✓ 名前",
            "\u{0}", "x\r\ny", "\"",
        ]
        for format in [MetricsText.Format.openMetrics, .prometheus] {
            var metrics = MetricsText()
            for (index, name) in names.enumerated() { metrics.add("peer_connected", [name, "device\(index)"], true) }
            let text = metrics.text(format)
            let lines = text.split(separator: "\n").filter { $0.hasPrefix("lanyard_") }
            #expect(lines.count == names.count)
            #expect(!text.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" || $0 == "\u{202e}" })
            #expect(!lines.contains { $0.hasPrefix("lanyard_store_ok") })
            guard case .openMetrics = format else { continue }
            let exposition = Exposition(text)
            #expect(exposition.faults == [])
            #expect(exposition.value("lanyard_peer_connected", ["peer": "back\\slash\\", "device": "device1"]) == 1)
            #expect(exposition.value("lanyard_peer_connected", ["peer": "\\n", "device": "device2"]) == 1)
        }
    }

    @Test func `histograms are written with their bounds, sum and count`() {
        var counts = DurationCounts(bounds: [0.001, 0.1])
        for seconds in [0.0005, 0.001, 0.002, 7, -1] { counts.record(seconds: seconds) }
        var metrics = MetricsText()
        metrics.add("durable_seconds", ["2"], counts)
        let text = metrics.text(.openMetrics)
        let exposition = Exposition(text)
        #expect(exposition.faults == [])
        #expect(text.contains(#"lanyard_durable_seconds_bucket{devices="2",le="0.001"} 3"#))
        #expect(exposition.value("lanyard_durable_seconds_bucket", ["devices": "2", "le": "0.1"]) == 4)
        #expect(exposition.value("lanyard_durable_seconds_bucket", ["devices": "2", "le": "+Inf"]) == 5)
        #expect(exposition.value("lanyard_durable_seconds_count", ["devices": "2"]) == 5)
        #expect(exposition.value("lanyard_durable_seconds_sum", ["devices": "2"]) == 7.0035)
    }

    @Test func `plain text has the same samples under names that its type lines give`() {
        var metrics = MetricsText()
        metrics.add("sessions", 3)
        metrics.add("build", ["1", "d", "n"], 1)
        let (open, plain) = (metrics.text(.openMetrics), metrics.text(.prometheus))
        let samples = { (text: String) in text.split(separator: "\n").filter { !$0.hasPrefix("#") } }
        #expect(samples(open) == samples(plain))
        #expect(open.contains("# TYPE lanyard_sessions counter\n") && open.hasSuffix("\n# EOF\n"))
        #expect(plain.contains("# TYPE lanyard_sessions_total counter\n") && !plain.contains("# EOF"))
        #expect(plain.contains("# TYPE lanyard_build_info gauge\n") && !plain.contains("# UNIT"))
    }

    @Test func `plain text is for those who ask for it and for nothing newer`() {
        func isOpen(_ accept: String?) -> Bool {
            if case .openMetrics = MetricsText.Format(accept: accept) { true } else { false }
        }
        #expect(isOpen(nil) && isOpen("*/*") && isOpen("text/html"))
        #expect(
            isOpen("application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1"))
        #expect(!isOpen("text/plain") && !isOpen("Text/Plain;version=0.0.4"))
    }

    @Test func `the strict reader refuses what is wrong`() {
        let family = "# HELP a b\n# TYPE a counter\n"
        for wrong in [
            "a_total 1\n# EOF\n", family + "a 1\n# EOF\n", family + "a_total 1\na_total 1\n# EOF\n",
            family + "a_total{b=\"c} 1\n# EOF\n", family + "a_total 1\n", family + "a_total x\n# EOF\n",
            family + "# UNIT a seconds\na_total 1\n# EOF\n", family + "# EOF\na_total 1\n# EOF\n",
            "# TYPE a counter\na_total 1\n# EOF\n", family + "\n# EOF\n",
        ] {
            #expect(!Exposition(wrong).faults.isEmpty, "\(wrong)")
        }
        #expect(Exposition(family + "a_total{b=\"c\\\"d\"} 1\n# EOF\n").faults == [])
    }
}
