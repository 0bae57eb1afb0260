package import SyncModel

/// What a transaction may look at while it is planned: the objects as they are stored.
package protocol ObjectSource {
    func object(_ key: ObjectKey) throws(StoreError) -> StoredObject?
    /// The same for a transaction that may change it: of a large one nobody else keeps a copy that would have to be made.
    func objectToChange(_ key: ObjectKey) throws(StoreError) -> ObjectToChange?
    /// Nil while nobody has set one.
    func schema(of collection: ExactString) throws(StoreError) -> CollectionSchema?
    /// Every operation on the object, in the order in which they arrived here.
    func touches(of key: ObjectKey) throws(StoreError) -> [PastOperation]
    /// What the object was when the part of its history began that is held; nil where all of it is.
    func beginning(of key: ObjectKey) throws(StoreError) -> ObjectBeginning?
    /// Whether nothing of it is here but what a state on its way brings.
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
    /// It is not written as a whole: what is done to it is noted edit by edit.
    package var isLarge: Bool

    package init(_ object: StoredObject, isLarge: Bool) {
        self.object = object
        self.isLarge = isLarge
    }
}

extension ObjectSource {
    /// For stores that keep every change.
    package func beginning(of key: ObjectKey) throws(StoreError) -> ObjectBeginning? { nil }

    /// For what is not asked by writes of applications.
    package func answeredWrite(_ name: [UInt8]) throws(StoreError) -> AnsweredWrite? { nil }

    package func isArriving(_ key: ObjectKey) throws(StoreError) -> Bool { false }

    package func objectToChange(_ key: ObjectKey) throws(StoreError) -> ObjectToChange? {
        try object(key).map { ObjectToChange($0, isLarge: false) }
    }
}
