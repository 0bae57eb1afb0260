package import ControlAPI
package import SyncAgent
import SyncCore
import SyncModel
import SyncStore

// Roles, and revocations.
extension Agent {
    /// Gives a device a role, lower or higher; one that was revoked is admitted again with it. `device` is a name, a unique
    /// beginning of its id, or the id. A device that has the role is returned unchanged.
    ///
    /// Throws `unknown_device`, `ambiguous_device`, `two_founders`, `read_only` on a device that was revoked, `forbidden` if
    /// this device is no admin, or is the last one and gives itself a lesser role, or the key is not that of the space.
    package func setRole(
        space: String, device word: String, _ request: RoleRequest
    ) async throws(ControlError) -> DeviceEntry {
        try checkSpace(space)
        let (key, role) = (try RecoveryKey(given: request.recoveryKey), MemberFact.Role(request.role))
        let found = try DeviceWord.find(word, in: try await devices(space: space))
        let now = try await controlled { try await snapshot() }
        let device = try now.member(found)
        try await checkSpeaker(now, key, "change roles", of: device)
        guard !now.hasStated(role, of: device, key) else { return found }
        if key == nil, device == now.own, now.admins == [device] {
            throw ControlError(
                .forbidden, "This device is the only admin: no device could change a role any more.",
                hint: "Make another one an admin first: lanyard devices role NAME admin")
        }
        // The key also undoes revocations that are not known here, unless it takes something from the device.
        let current = now.role(of: device)
        let isReturn = current.map { key != nil && $0 <= role } ?? true
        let action: TrustOrder.Action = isReturn ? .readmission(device, role) : .role(device, role)
        try await state(action, key)
        let after = try await controlled { try await snapshot() }
        guard after.role(of: device) == role else { throw withoutEffect(of: device, after) }
        return try DeviceWord.find(found.id, in: try await devices(space: space))
    }

    /// Revokes a device: what has not come here of it counts nowhere, and no member has a session with it. Named as in
    /// `setRole`, with the same errors; `forbidden` for this one. One that was revoked is answered with its receipts.
    package func revoke(
        space: String, device word: String, _ request: RevocationRequest
    ) async throws(ControlError) -> Revocation {
        try checkSpace(space)
        let key = try RecoveryKey(given: request.recoveryKey)
        let wipes = request.wipe ?? false
        let found = try DeviceWord.find(word, in: try await devices(space: space))
        let now = try await controlled { try await snapshot() }
        let device = try now.member(found)
        guard device != now.own else {
            throw ControlError(
                .forbidden, "This is the device you are at; it cannot revoke itself.",
                hint: "Revoke it from another one.")
        }
        try await checkSpeaker(now, key, "revoke devices", of: device, isRevoking: true)
        if now.hasRevoked(device, key, wipes: wipes) { return try await revocation(of: device, found.name, now) }
        try await state(.revocation(device, wipes: wipes), key)
        let after = try await controlled { try await snapshot() }
        guard after.cuts.isRevoked(device) else { throw withoutEffect(of: device, after) }
        return try await revocation(of: device, found.name, after)
    }

    private func revocation(
        of device: DeviceID, _ name: String, _ now: AgentSnapshot
    ) async throws(ControlError) -> Revocation {
        let departure = now.departures.first { $0.device == device }
        let admitted = Set(now.admitted(by: device).map { "\($0)" })
        return Revocation(
            device: "\(device)", name: name, heard: departure.map { $0.heard.map { "\($0)" } } ?? [],
            waitingFor: departure.map { $0.waitingFor.map { "\($0)" } } ?? [],
            alsoAdmitted: try await devices(space: Self.homeName).filter { admitted.contains($0.id) })
    }

    /// Writes a statement; durable on return.
    func state(_ action: TrustOrder.Action, _ key: RecoveryKey?) async throws(ControlError) {
        switch try await commit([LocalWrite.trust(TrustOrder(action, recoveryKey: key)).once(at: 0)]).first {
        case .success: return
        case .failure(let refusal) where refusal.reason == .catchingUp:
            throw ControlError(
                .catchingUp, "What another device said of that one is still arriving; nothing was written.",
                hint: "Try again in a moment: lanyard wait --connected")
        case .failure(let refusal): throw ControlError(refusal.reason)
        case nil: throw Self.missingOutcome
        }
    }

    /// Throws unless the key, or this device as an admin, may speak about a device.
    ///
    /// - Parameters:
    ///   - deed: what is to be done, for the sentence.
    ///   - isRevoking: true for a revocation, which may be about a device that follows another founder.
    private func checkSpeaker(
        _ now: AgentSnapshot, _ key: RecoveryKey?, _ deed: String, of device: DeviceID, isRevoking: Bool = false
    ) async throws(ControlError) {
        if let key {
            try check(key, now)
        } else if now.isRevoked {
            throw try await mayNotWrite(now)
        } else if now.role(of: now.own) != .admin {
            let names = now.admins.map { now.shownName(of: $0) }.joined(separator: ", ")
            throw ControlError(
                .forbidden,
                "Only admins \(deed). " + (names.isEmpty ? "There is none any more." : "Admins: \(names)."),
                hint: names.isEmpty
                    ? "With the recovery key it can be done: lanyard recovery use"
                    : "Do it on one of them, or with the recovery key: lanyard recovery use")
        }
        let others = now.otherFollowers
        guard !others.isEmpty, !(isRevoking && others.contains(device)) else { return }
        let names = others.map { now.shownName(of: $0) }.joined(separator: ", ")
        let other = others.contains(device) ? device : others[0]
        throw ControlError(
            .twoFounders,
            "\(names) came from another mesh and \(others.count == 1 ? "follows" : "follow") another founder: roles would differ.",
            hint: now.oneFounderHint(other))
    }

    /// Throws `forbidden` unless it is the recovery key of the space.
    private func check(_ key: RecoveryKey, _ now: AgentSnapshot) throws(ControlError) {
        guard let known = now.cuts.recoveryKey else {
            if let founder = now.founder, now.cuts.isRevoked(founder) {
                throw ControlError(
                    .forbidden,
                    "This device has heard of no recovery key, and takes the founder, \(now.shownName(of: founder)), for revoked.",
                    hint:
                        "If the space has a key, use it on another device. Then export what is only here (lanyard export), stop "
                        + "this agent, remove its data folder, pair it again, and import.")
            }
            throw ControlError(
                .forbidden, "This space has no recovery key.",
                hint:
                    "Its founder\(now.founder.map { ", \(now.shownName(of: $0))," } ?? "") can make one: lanyard recovery create"
            )
        }
        guard known == key.publicKey else {
            throw ControlError(
                .forbidden, "This is a recovery key, but not the one of this space; nothing was done.",
                hint: "Use the key that `lanyard recovery create` printed when this space got it.")
        }
    }

    /// The error for a statement that is written and changes nothing: another one holds.
    private func withoutEffect(of device: DeviceID, _ now: AgentSnapshot) -> ControlError {
        let state = now.role(of: device).map { "has the role \(Role($0).rawValue)" } ?? "is revoked"
        return ControlError(
            .forbidden, "\(now.shownName(of: device)) still \(state): what was said elsewhere holds.",
            hint: "See which statement is in effect: lanyard devices log")
    }
}

extension AgentSnapshot {
    /// The members that are admins and were not let go, by id.
    var admins: [DeviceID] {
        members.map(\.device).filter { role(of: $0) == .admin && (!cuts.isAway($0) || $0 == own) }
    }

    /// Returns the name that `devices` shows, or the short id where there is none.
    func shownName(of device: DeviceID) -> String {
        let name = memberName(of: device) ?? ""
        return name.isEmpty ? device.shortID : name
    }

    /// Returns the word by which a person can name the device in a shell.
    func typedWord(for device: DeviceID) -> String {
        DeviceWord.typed(memberName(of: device) ?? "", shortID: device.shortID)
    }

    /// Returns the way to one founder for all.
    ///
    /// - Parameter device: one that follows another founder.
    func oneFounderHint(_ device: DeviceID) -> String {
        "Choose the side that stays, and for each device of the other one: when it is in step, stop its agent, let it go on an admin's "
            + "device of that side (lanyard devices revoke \(typedWord(for: device))), remove its data folder, and pair it again."
    }

    func member(_ entry: DeviceEntry) throws(ControlError) -> DeviceID {
        guard let found = members.first(where: { "\($0.device)" == entry.id }) else {
            throw DeviceWord.unknown(entry.id)
        }
        return found.device
    }

    /// True if the device has the role, and, where the recovery key speaks, by the key: its word is stronger.
    fileprivate func hasStated(_ role: MemberFact.Role, of device: DeviceID, _ key: RecoveryKey?) -> Bool {
        guard self.role(of: device) == role else { return false }
        return key == nil || counting(of: device).contains { $0.isRecovery && $0.role == role }
    }

    /// The same for a revocation. One that wipes says more than one that does not.
    fileprivate func hasRevoked(_ device: DeviceID, _ key: RecoveryKey?, wipes: Bool) -> Bool {
        guard cuts.isRevoked(device) else { return false }
        return counting(of: device).contains { statement in
            guard case .revocation(_, _, let orders) = statement.content else { return false }
            return (orders || !wipes) && (key == nil || statement.isRecovery)
        }
    }

    /// The statements about a device that have effect, and that this node holds: what came apart may never be named by others.
    private func counting(of device: DeviceID) -> [TrustStatement] {
        guard let verdicts = cuts.verdicts else { return [] }
        let held = VersionVector(tips.map { VersionVector.Entry(replica: $0.replica, next: $0.tip.next) })
        return cuts.trust.rows.filter {
            $0.statement.device == device && verdicts.counting.contains($0.dot) && held.covers($0.dot)
        }.map(\.statement)
    }

    /// Returns the members that joined through a device, or through one of these; without this one and those that are gone.
    fileprivate func admitted(by device: DeviceID) -> Set<DeviceID> {
        let hosts = members.map { (device: $0.device, host: membership.admission(of: $0.device)?.author) }
        var (admitted, next) = (Set<DeviceID>(), [device])
        while let host = next.popLast() {
            for guest in hosts where guest.host == host && guest.device != device {
                if admitted.insert(guest.device).inserted { next.append(guest.device) }
            }
        }
        return admitted.filter { $0 != own && !cuts.isAway($0) }
    }
}

extension RecoveryKey {
    /// Reads the key of a request; nil where it has none. Throws `invalid_argument`, without a part of the text.
    init?(given text: String?) throws(ControlError) {
        guard let text else { return nil }
        do throws(TextError) { try self.init(text: text) } catch { throw ControlError(error) }
    }
}

extension ControlError {
    init(_ error: RecoveryKey.TextError) {
        let (message, hint) =
            switch error {
            case .notAKey:
                (
                    "This is no recovery key: one begins with lanyard-key\(RecoveryKey.textVersion)-.",
                    "Give what `lanyard recovery create` printed, as one piece."
                )
            case .otherVersion(let version):
                (
                    "This recovery key has version \(version); this agent reads version \(RecoveryKey.textVersion).",
                    "Upgrade Lanyard on this device."
                )
            case .length(let count):
                (
                    "This recovery key is not whole: it has \(count) characters in place of 56, behind its beginning.",
                    "Give all eight groups of seven."
                )
            case .mistyped(let groups):
                (
                    "A character of this recovery key is wrong: in group \(groups.lowerBound) or \(groups.upperBound).",
                    "Compare these two groups of seven with what was written down."
                )
            }
        self.init(.invalidArgument, message, hint: hint)
    }
}
