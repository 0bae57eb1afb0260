public import ControlAPI

extension LanyardClient {
    /// Gives a device a role, as an admin or with the recovery key. One that was revoked is admitted again. It is named as in
    /// `retire`; better by its id, for a name is chosen by its device.
    public func setRole(
        _ role: Role, of device: String, recoveryKey: String? = nil, space: String = "home"
    ) async throws(ControlError) -> DeviceEntry {
        try await value(
            ClientRequest(.PUT, "v1", "spaces", .name(space), "devices", .name(device), "role"),
            body: RoleRequest(role: role, recoveryKey: recoveryKey))
    }

    /// Revokes a device, as an admin or with the recovery key: what has not come here of it counts nowhere. It is named as in
    /// `setRole`. The answer says which members have heard; later `devices` does.
    ///
    /// - Parameter wipe: true: it is told to delete what it holds of the space.
    public func revoke(
        device: String, wipe: Bool = false, recoveryKey: String? = nil, space: String = "home"
    ) async throws(ControlError) -> Revocation {
        try await value(
            ClientRequest(.POST, "v1", "spaces", .name(space), "devices", .name(device), "revocation"),
            body: RevocationRequest(wipe: wipe, recoveryKey: recoveryKey))
    }

    /// Says if the space has a recovery key, and since when.
    public func recovery(space: String = "home") async throws(ControlError) -> RecoveryState {
        try await value(ClientRequest(.GET, "v1", "spaces", .name(space), "recovery"))
    }

    /// Returns a new recovery key. It counts once it is given to `setRecoveryKey`: write it down before.
    public func newRecoveryKey(space: String = "home") async throws(ControlError) -> IssuedRecoveryKey {
        var request = ClientRequest(.POST, "v1", "spaces", .name(space), "recovery")
        request.isRepeatable = false
        return try await value(request)
    }

    /// Makes a key the recovery key of the space, for good. The agent keeps its public half only.
    public func setRecoveryKey(_ key: String, space: String = "home") async throws(ControlError) -> RecoveryState {
        try await value(
            ClientRequest(.PUT, "v1", "spaces", .name(space), "recovery"), body: RecoveryKeyRequest(recoveryKey: key))
    }
}
