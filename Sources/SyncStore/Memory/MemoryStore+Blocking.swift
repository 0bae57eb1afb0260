package import SyncModel

extension MemoryStore {
    package func blockedDevices() throws(StoreError) -> [DeviceID] { try snapshot().blocked.sorted() }

    package func setBlocked(_ device: DeviceID, _ isBlocked: Bool) throws(StoreError) {
        try update { contents in
            if isBlocked { contents.blocked.insert(device) } else { contents.blocked.remove(device) }
        }
    }
}
