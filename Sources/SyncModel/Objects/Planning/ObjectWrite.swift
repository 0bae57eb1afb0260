/// One thing an application asks to be written, before it is known what that changes: it is planned against what is stored
/// at the moment it is committed, so nothing comes between looking and writing.
package enum ObjectWrite: Sendable, Hashable {
    case put(ObjectKey, Put)
    case edit(ObjectKey, [FieldEdit], EditOptions)
    /// Deletes it everywhere; deleting what is deleted or unknown writes nothing.
    case delete(ObjectKey, ifVersion: Dot?)
    case resolve(ObjectKey, Resolution)
    /// To an object that is there.
    case attach(ObjectKey, AttachedFile)
    /// What is not attached any more needs no detaching.
    case detach(ObjectKey, attachment: Dot)
    /// Goes on with a field in another type, where it is shown in one.
    case convert(ObjectKey, field: ExactString, to: FieldType)
    /// Sets what the JSON object names of a collection's schema.
    case setSchema(ExactString, JSONValue)
    case appendEvent(Operation.Event)
    case setStream(Operation.StreamSetting)

    package struct Put: Sendable, Hashable {
        package var fields: [JSONValue.Member]
        /// Fields that are not named are removed.
        package var replacing = false
        package var ifVersion: Dot?
        package var ifAbsent = false

        package init(
            fields: [JSONValue.Member], replacing: Bool = false, ifVersion: Dot? = nil, ifAbsent: Bool = false
        ) {
            self.fields = fields
            self.replacing = replacing
            self.ifVersion = ifVersion
            self.ifAbsent = ifAbsent
        }
    }

    package struct EditOptions: Sendable, Hashable {
        /// Creates the object when there is none.
        package var creating = false
        package var ifVersion: Dot?
        /// An insertion or deletion inside a `Character` of a text is refused.
        package var keepsCharacters = false
        /// Whoever asks wants to know the version, and not to be shown the object.
        package var isBrief = false

        package init(
            creating: Bool = false, ifVersion: Dot? = nil, keepsCharacters: Bool = false, isBrief: Bool = false
        ) {
            self.creating = creating
            self.ifVersion = ifVersion
            self.keepsCharacters = keepsCharacters
            self.isBrief = isBrief
        }
    }

    package enum Resolution: Sendable, Hashable {
        /// Of an undecided object: it stays.
        case keep
        /// It goes.
        case delete
        /// Drops the list of edits that a deletion dropped; this node only.
        case dismiss
        /// Of a field with several values: this one.
        case field([ExactString], JSONValue)
    }
}
