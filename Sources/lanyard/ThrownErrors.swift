import ControlAPI

/// Returns the value of client calls whose closures and sequences throw only `ControlError`s, with that type. The client passes
/// on any error of its caller's code, so its calls do not declare the type.
func typed<Value>(_ body: () async throws -> Value) async throws(ControlError) -> Value {
    do { return try await body() } catch let error as ControlError { throw error } catch {
        throw ControlError(.internalFault, "The command met an error: \(error).", hint: "Try it again.")
    }
}
