import Testing

/// The applications of Sources/Examples, as a person types them.
extension Node {
    /// Runs a program that has to succeed.
    @discardableResult
    func program(_ command: String...) throws -> Outcome {
        let outcome = try run(command)
        guard outcome.status == 0 else {
            throw RigError(
                description:
                    "\(command.joined(separator: " ")) on \(name) ended with \(outcome.status): \(outcome.errors)")
        }
        return outcome
    }

    /// Runs a program that must refuse with this exit code, and say why on standard error.
    func expectProgramFails(
        _ command: String..., exit: Int32, saying words: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let outcome = try run(command)
        #expect(outcome.status == exit, "\(outcome.errors)\(outcome.output)", sourceLocation: sourceLocation)
        #expect(outcome.output.isEmpty, sourceLocation: sourceLocation)
        #expect(outcome.errors.contains(words), "\(outcome.errors)", sourceLocation: sourceLocation)
    }
}

/// Returns the last table that was printed whole: an empty line ends each.
func lastTable(_ lines: [String]) -> [String] {
    lines.split(separator: "", omittingEmptySubsequences: false).dropLast().last.map(Array.init) ?? []
}
