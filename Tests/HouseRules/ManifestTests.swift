import Testing

@Suite struct ManifestTests {
    /// Returns the parts of `manifest` that begin with `start`, each up to the parenthesis that closes its first one.
    private func calls(_ start: String, in manifest: String) -> [String] {
        manifest.ranges(of: start).compactMap { range in
            var depth = 0
            for index in manifest[range.lowerBound...].indices {
                switch manifest[index] {
                case "(": depth += 1
                case ")":
                    depth -= 1
                    if depth == 0 { return String(manifest[range.lowerBound...index]) }
                default: break
                }
            }
            return nil
        }
    }

    /// Package.swift with every run of white space as one space, and none behind an opening parenthesis.
    private func manifest() throws -> String {
        try Repository().file("Package.swift").lines.joined(separator: "\n")
            .split(whereSeparator: \.isWhitespace).joined(separator: " ").replacing("( ", with: "(")
    }

    @Test func `the replicated types are a product that builds no other target and no package`() throws {
        let manifest = try manifest()
        #expect(
            calls(#".library(name: "ReplicatedTypes","#, in: manifest) == [
                #".library(name: "ReplicatedTypes", targets: ["ReplicatedTypes"])"#
            ])
        let target = calls(#"arget(name: "ReplicatedTypes","#, in: manifest)
        #expect(target.count == 1, "one target has this name")
        for argument in ["dependencies", "plugins", "linkerSettings"] {
            #expect(
                !target.joined().contains(argument), "an application that wants only the types builds more than them")
        }
    }

    @Test func `a target's arguments are read to the parenthesis that closes them`() {
        let text = #"[.target(name: "A", dependencies: [.product(name: "B", package: "c")]), .target(name: "D")]"#
        #expect(
            calls(#".target(name: "A""#, in: text) == [
                #".target(name: "A", dependencies: [.product(name: "B", package: "c")])"#
            ])
        #expect(calls(".target(", in: text).count == 2)
    }
}
