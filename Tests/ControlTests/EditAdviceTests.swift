import ControlAPI
import ControlServer
import SyncModel
import Testing

/// What somebody is told whose edit does not fit the field's type.
struct EditAdviceTests {
    private static let cases: [(edit: String, type: FieldType, value: String, message: String, hint: String)] = [
        (
            "tags.add=home", .list, #"["shop"]"#, #""tags" is a list; .add works on sets."#,
            "To append: tags.insert@1=home. To make it a set: lanyard schema set task tags=set"
        ),
        (
            "n+=1", .register, "1", #""n" is a plain number; += needs a counter."#,
            "Set it: n=2. To make it a counter: lanyard schema set task n=counter"
        ),
        (
            "tags.remove=shop", .list, #"["a","shop"]"#, #""tags" is a list; .remove works on sets."#,
            "To take it out: tags.delete@1:1. To make it a set: lanyard schema set task tags=set"
        ),
        (
            "tags.insert@0=home", .set, "[]", #""tags" is a set; .insert works on lists and texts."#,
            "To add it: tags.add=home"
        ),
        (
            "title.insert@0=x", .register, #""milk""#,
            #""title" is a plain text value; .insert works on lists and texts."#, "Set it as a whole: title=VALUE"
        ),
        (
            "n=many", .counter, "1", #""n" is a counter, and takes a whole number."#,
            "Another type: lanyard schema set task n=TYPE"
        ),
    ]

    @Test(arguments: cases.indices)
    func `an edit that does not fit says which one does`(index: Int) throws {
        let (edit, type, value, message, hint) = Self.cases[index]
        let error = EditAdvice(
            operation: try EditOperation(parsing: edit), collection: "task", type: type,
            value: try JSONValue(text: value)
        ).error
        #expect(error.code == .typeMismatch)
        #expect(error.message == message)
        #expect(error.hint == hint)
    }
}
