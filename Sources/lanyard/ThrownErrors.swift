import ControlAPI

/// Returns what calls of the client return whose closures and sequences throw nothing but `ControlError`s. The client hands on
/// any error of its caller's, so its calls say nothing about the type.
func typed<Value>(_ body: () async throws -> Value) async throws(ControlError) -> Value {
    do { return try await body() } catch let error as ControlError { throw error } catch {
        throw ControlError(.internalFault, "The command met an error: \(error).", hint: "Try it again.")
    }
}
