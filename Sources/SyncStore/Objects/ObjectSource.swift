package import SyncModel

/// The stored objects that a transaction may read while it is planned.
package protocol ObjectSource {
    func object(_ key: ObjectKey) throws(StoreError) -> StoredObject?
    /// Returns the object for a transaction that may change it. No other reference to a large object is kept, so that
    /// changing it makes no copy.
    func objectToChange(_ key: ObjectKey) throws(StoreError) -> ObjectToChange?
    /// Returns the collection's schema; nil if none was set.
    func schema(of collection: ExactString) throws(StoreError) -> CollectionSchema?
    /// Every operation on the object, in the order in which they arrived here.
    func touches(of key: ObjectKey) throws(StoreError) -> [PastOperation]
    /// Returns the object's state at the beginning of the stored part of its history; nil if all of its history is stored.
    func beginning(of key: ObjectKey) throws(StoreError) -> ObjectBeginning?
    /// True if nothing of the object is stored except what a state on its way brings.
    func isArriving(_ key: ObjectKey) throws(StoreError) -> Bool
    /// The newest write that was answered under a key of this name.
    func answeredWrite(_ name: [UInt8]) throws(StoreError) -> AnsweredWrite?
    /// Every object of the collection, in the order of ids, until `body` returns false.
    func objects(
        of collection: ExactString, _ body: (StoredObject) throws(StoreError) -> Bool
    ) throws(StoreError)
}

package struct ObjectToChange: Sendable {
    package var object: StoredObject
    /// True if the object is not written as a whole: its changes are stored edit by edit.
    package var isLarge: Bool

    package init(_ object: StoredObject, isLarge: Bool) {
        self.object = object
        self.isLarge = isLarge
    }
}

extension ObjectSource {
    /// Returns nil, for stores that keep every change.
    package func beginning(of key: ObjectKey) throws(StoreError) -> ObjectBeginning? { nil }

    /// Returns nil, for sources that writes of applications do not use.
    package func answeredWrite(_ name: [UInt8]) throws(StoreError) -> AnsweredWrite? { nil }

    package func isArriving(_ key: ObjectKey) throws(StoreError) -> Bool { false }

    package func objectToChange(_ key: ObjectKey) throws(StoreError) -> ObjectToChange? {
        try object(key).map { ObjectToChange($0, isLarge: false) }
    }
}
