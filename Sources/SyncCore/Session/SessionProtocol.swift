/// What this version speaks.
package enum SessionProtocol {
    package static let versions: ClosedRange<UInt32> = 1...1
    /// Feature bits this side understands.
    package static let features: UInt64 = acknowledgements
    /// Acknowledgements: their digest in `Have`, `Acknowledgements` and `AcknowledgementRequest`.
    package static let acknowledgements: UInt64 = 1 << 0
    /// Feature bits a peer must understand.
    package static let featuresRequired: UInt64 = 0
}
