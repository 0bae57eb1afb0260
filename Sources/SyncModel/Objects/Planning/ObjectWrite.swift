/// A write that an application asks for, before its changes are known. It is planned against the stored state at the moment
/// of the commit, so nothing comes between reading and writing.
package enum ObjectWrite: Sendable, Hashable {
    case put(ObjectKey, Put)
    case edit(ObjectKey, [FieldEdit], EditOptions)
    /// Deletes it everywhere; deleting what is deleted or unknown writes nothing.
    case delete(ObjectKey, ifVersion: Dot?)
    case resolve(ObjectKey, Resolution)
    /// Attaches a file to an object that exists.
    case attach(ObjectKey, AttachedFile)
    /// Detaches an attachment. One that is not attached any more needs no detaching.
    case detach(ObjectKey, attachment: Dot)
    /// Goes on with a field in another type, where it is shown in one.
    case convert(ObjectKey, field: ExactString, to: FieldType)
    /// Sets what the JSON object names of a collection's schema.
    case setSchema(ExactString, JSONValue)
    case appendEvent(Operation.Event)
    case setStream(Operation.StreamSetting)
    /// Says which void work the other writes of the change do again. Written only where they write something.
    case accept(Operation.AcceptedWork)

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
        /// True if the caller wants the version and not the object.
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
        /// Keeps an undecided object.
        case keep
        /// Deletes an undecided object.
        case delete
        /// Drops the list of edits that a deletion dropped; this node only.
        case dismiss
        /// Chooses this value for a field with several values.
        case field([ExactString], JSONValue)
    }
}
