extension Histories {
    /// A moment of a history.
    package enum Move: Hashable, Sendable, CustomStringConvertible {
        case write(Device, object: Int)
        /// Edits what the device `of` wrote last, as far as `Device` sees it.
        case edit(Device, of: Device)
        case delete(Device, object: Int)
        case sync(Device, Device)
        case admit(Device, by: Device)
        case propose(Device, Bits)
        case step(Device, Step)
        /// Copies a disk.
        case copy(Device)
        /// Puts a device back to the copy of its disk. The device does not notice.
        case putBack(Device)
        case die(Device)

        package var description: String {
            switch self {
            case .write(let device, let object): "\(name(device)) writes in \(object)"
            case .edit(let device, let author): "\(name(device)) edits what \(name(author)) wrote"
            case .delete(let device, let object): "\(name(device)) deletes \(object)"
            case .sync(let one, let other): "\(name(one))-\(name(other)) meet"
            case .admit(let device, let member): "\(name(member)) admits \(name(device))"
            case .propose(let device, let devices): "\(name(device)) proposes \(names(devices))"
            case .step(let device, let step): "\(name(device)) \(step)"
            case .copy(let device): "the disk of \(name(device)) is copied"
            case .putBack(let device): "the disk of \(name(device)) is put back"
            case .die(let device): "\(name(device)) dies"
            }
        }
    }
}

extension Histories.World {
    /// Performs a move and checks what the devices show; returns false if it is not possible now.
    @discardableResult
    package mutating func perform(_ move: Histories.Move) -> Bool {
        guard !isFull, let devices = move.devices.allSatisfy({ nodes[$0].isAlive }) ? move.devices : nil else {
            return false
        }
        guard attempt(move) else { return false }
        for device in devices { checkNow(device) }
        return true
    }

    private mutating func attempt(_ move: Histories.Move) -> Bool {
        if case .admit = move {} else if !move.devices.allSatisfy({ nodes[$0].isMember }) { return false }
        switch move {
        case .write(let device, let object):
            write(.write, object: object, work: nextWork(), by: device)
        case .edit(let device, let author):
            let writings = shown(on: device).writings.filter { replicas[changes[$0].replica].device == author }
            guard let target = writings.last else { return false }
            write(.edit(target), object: changes[target].object, work: nextWork(), by: device)
        case .delete(let device, let object):
            let shown = shown(on: device)
            guard
                shown.writings.contains(where: {
                    changes[$0].object == object && changes[$0].work.map(shown.works.contains) == true
                })
            else { return false }
            write(.delete, object: object, work: nil, by: device)
        case .sync(let one, let other):
            let known = nodes[one].facts | nodes[other].facts
            let members = verdict(known).members
            guard one != other, members.contains(one) || members.contains(other) else { return false }
            sync(one, other)
        case .admit(let device, let member):
            guard !nodes[device].isMember, nodes[member].isMember, !isIncomplete(member) else { return false }
            nodes[device].isMember = true
            state(.add(device), by: member)
            sync(member, device)
        case .propose(let device, let devices): return propose(devices, by: device)
        case .step(let device, let step): return perform(step, by: device)
        case .copy(let device): copies[device] = nodes[device]
        case .putBack(let device):
            guard let copy = copies[device], copy != nodes[device] else { return false }
            nodes[device] = copy
            restored.insert(device)
        case .die(let device): nodes[device].isAlive = false
        }
        return true
    }

    private mutating func nextWork() -> Int {
        works += 1
        return works - 1
    }
}

extension Histories.Move {
    package var devices: [Histories.Device] {
        switch self {
        case .write(let device, _), .edit(let device, _), .delete(let device, _), .propose(let device, _),
            .step(let device, _), .copy(let device), .putBack(let device), .die(let device):
            [device]
        case .sync(let one, let other), .admit(let one, by: let other): [one, other]
        }
    }
}
