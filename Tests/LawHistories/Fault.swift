/// A law that a history broke.
package struct Fault: Error, CustomStringConvertible {
    package let law: String
    package let detail: String

    package init(_ law: String, _ detail: String) {
        self.law = law
        self.detail = detail
    }

    package var description: String { "\(law): \(detail)" }
}
