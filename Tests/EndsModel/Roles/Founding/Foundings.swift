extension Roles {
    /// Spaces that meet. Every device begins with a founding of its own; a founding is named by its device here.
    ///
    /// A statement names the founding that it is about, and counts in no other. A device leaves a founding only by two facts:
    /// an admin of the old founding yields to the new one, and an admin of the new one has added the device. So `join` is the
    /// yield of a device that is alone, and `join --merge` the yield of a mesh; roles come from adds in the new founding only.
    package struct Foundings: Hashable, Sendable {
        package struct Statement: Hashable, Sendable {
            /// The founding that it names.
            package let founding: Device
            package let draft: Draft
            /// The founding that a yield names as the new one.
            package let newFounding: Device?

            package init(_ founding: Device, _ draft: Draft, newFounding: Device? = nil) {
                self.founding = founding
                self.draft = draft
                self.newFounding = newFounding
            }
        }

        package var statements: [Statement] = []
        /// Foundings with a recovery key.
        package var withKey: Set<Device> = []
        package var devices: [Device]

        package init(devices: Int) { self.devices = (0..<devices).map { Device($0) } }

        package func closed(_ ids: FactSet) -> FactSet { ids.reduce(ids) { $0 | statements[$1].draft.past } }

        /// The statements that no other statement may know after leaving out `id`.
        package func without(_ id: Int) -> Foundings {
            var rest = self
            let history = History(statements.map(\.draft)).without(id)
            rest.statements.remove(at: id)
            for index in rest.statements.indices {
                let old = rest.statements[index]
                rest.statements[index] = Statement(old.founding, history.drafts[index], newFounding: old.newFounding)
            }
            return rest
        }
    }

    /// Judges a set of statements: the law of each founding, and which founding each device is in.
    package final class FoundingLaw {
        package let foundings: Foundings
        let rules: Rules
        private var laws: [Device: Law] = [:]
        /// For each founding the statements that its law has, in order.
        private var ids: [Device: [Int]] = [:]
        private var places: [Place: Device] = [:]

        package init(_ foundings: Foundings, _ rules: Rules) {
            self.foundings = foundings
            self.rules = rules
            let facts = History(foundings.statements.map(\.draft)).facts
            for device in foundings.devices {
                let ids = facts.indices.filter {
                    foundings.statements[$0].founding == device || rules.bug == .homesMix
                }
                self.ids[device] = ids
                laws[device] = Law(facts.reordered(ids), rules: rules, founder: device)
            }
        }

        package func law(_ founding: Device) -> Law { laws[founding]! }

        /// The state of a founding, of the statements of `known` that are about it.
        package func state(_ founding: Device, _ known: FactSet) -> State {
            let ids = ids[founding]!
            return law(founding).state(FactSet(ids.indices.filter { known.contains(ids[$0]) }))
        }

        package func role(_ device: Device, in founding: Device, _ known: FactSet) -> Role {
            law(founding).role(of: device, state(founding, known))
        }

        /// True if an author with the right, whose fact counts, added the device. A revocation does not send it home.
        package func isAdmitted(_ device: Device, in founding: Device, _ known: FactSet) -> Bool {
            let law = law(founding)
            return device == founding
                || state(founding, known).grants.contains {
                    law.facts[$0].target == device && [.add, .readmit].contains(law.facts[$0].kind)
                }
        }

        /// The foundings to which `device` moves from `founding`: a yield counts there, its author was in that founding by its
        /// own past, the new founding has added the device, and no later such yield knows it.
        private func successors(_ founding: Device, of device: Device, _ known: FactSet) -> [Device] {
            let law = law(founding)
            let counting = state(founding, known).grants.filter { id in
                let statement = ids[founding]![id]
                guard let new = foundings.statements[statement].newFounding, new != founding else { return false }
                // A key outranks every device: only the key ends its founding.
                let fact = law.facts[id]
                let mayEnd = !foundings.withKey.contains(founding) || fact.isRecovery || rules.bug == .adminEndsKey
                let past = foundings.statements[statement].draft.past
                return mayEnd && self.founding(of: fact.author, past) == founding && isAdmitted(device, in: new, known)
            }
            let newest = counting.filter { id in !counting.contains { law.facts[$0].past.contains(id) } }
            return newest.map { foundings.statements[ids[founding]![$0]].newFounding! }
        }

        /// The founding that `device` is in, by what is known.
        package func founding(of device: Device, _ known: FactSet) -> Device {
            let key = Place(device: device, known: known)
            if let place = places[key] { return place }
            let place = follow(device, known)
            places[key] = place
            return place
        }

        private struct Place: Hashable {
            let device: Device
            let known: FactSet
        }

        private func follow(_ device: Device, _ known: FactSet) -> Device {
            var path = [device]
            while true {
                let next = successors(path.last!, of: device, known)
                guard let new = rules.bug == .lastYieldHolds ? next.last : next.min() else { return path.last! }
                // Two meshes that yield to each other: both sides agreed to either, so the lesser one stays.
                if let index = path.firstIndex(of: new) {
                    return rules.bug == .lastYieldHolds ? path.last! : path[index...].min()!
                }
                path.append(new)
            }
        }
    }
}
