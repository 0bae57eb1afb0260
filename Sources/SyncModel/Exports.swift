// Changes, objects and frames are made of replicated types, clocks and ids. A file that imports SyncModel gets them with
// it, so that no file needs to know on which side of the line between the two targets a type stands. `public`, because
// public declarations of SyncModel name these types.
@_exported public import ReplicatedTypes
