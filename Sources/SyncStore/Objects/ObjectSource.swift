package import SyncModel

/// What a transaction may look at while it is planned: the objects as they are stored.
package protocol ObjectSource {
    func object(_ key: ObjectKey) throws(StoreError) -> StoredObject?
    /// Nil while nobody has set one.
    func schema(of collection: ExactString) throws(StoreError) -> CollectionSchema?
    /// Every operation on the object, in the order in which they arrived here.
    func touches(of key: ObjectKey) throws(StoreError) -> [ObjectTouch]
    /// Every object of the collection, in the order of ids, until `body` returns false.
    func objects(
        of collection: ExactString, _ body: (StoredObject) throws(StoreError) -> Bool
    ) throws(StoreError)
}
