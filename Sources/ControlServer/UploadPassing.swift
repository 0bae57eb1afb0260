import ControlAPI

extension RequestUpload {
    /// Takes the bytes as fast as they are written to disk, and no faster; what is not finished is given up.
    func pass<Value: Sendable>(
        to receiver: any BytesReceiving, _ finish: () async throws(ControlError) -> Value
    ) async throws(ControlError) -> Value {
        do throws(ControlError) {
            try await pass(to: receiver)
            return try await finish()
        } catch {
            receiver.giveUp()
            throw error
        }
    }

    private static var stopping: ControlError {
        ControlError(.stopping, "The agent is stopping; nothing was kept.", hint: "Send it again.")
    }

    private func pass(to receiver: any BytesReceiving) async throws(ControlError) {
        readAhead()
        do {
            for try await bytes in self { try await receiver.append(bytes) }
        } catch let error as ControlError {
            throw error
        } catch is CancellationError {
            throw Self.stopping
        } catch {
            throw ControlError(
                .connectionLost, "The connection ended before all of the file came; nothing was kept.",
                hint: "Send it again.")
        }
        // A body that is cancelled reads as one that ended.
        if Task.isCancelled { throw Self.stopping }
    }
}
