extension Frame {
    /// The first frame of both sides; nothing else may be sent before it.
    package struct Hello: Hashable, Sendable {
        /// Versions of the session protocol this side speaks: from 1, least to greatest.
        package var protocols: ClosedRange<UInt32>
        /// Feature bits this side understands.
        package var features: UInt64
        /// Feature bits the other side must understand.
        package var featuresRequired: UInt64
        /// A label, at most `Limits.deviceNameBytes`.
        package var name: String
        /// Random, one per start of the agent: a second live one for the same device means its key was copied.
        package var runID: UInt64
        /// Grows with each session of a run.
        package var sessionNumber: UInt64
        /// The sender's wall clock; a decoded one lies within ±`Limits.wallMilliseconds`.
        package var wallMilliseconds: Int64
        package var agentVersion: String
        /// mDNS instance name, to tie a record to a device; empty when not announced.
        package var instance: String
        /// The port on which this side accepts connections; 0 if it accepts none.
        package var listenPort: UInt16
        /// The number of bytes of changes that cannot be applied yet which this side keeps, for all peers together.
        package var waitingRoomBytes: UInt64
        /// Another run of the sender's device that the receiver told it of, 0 for none.
        package var twinRun: UInt64
        /// The sender's signature over that run (`TwinStatement`), 64 bytes; empty when there is no such run.
        package var twinSignature: [UInt8]
        /// The number of statements of the recovery key that the sender sends next: a receiver that refuses the sender waits for
        /// them, since a thief may have revoked it.
        package var statementCount: UInt32
        /// The sender's word that it deleted what it held, as a revocation told it to.
        package var wipeReceipt: WipeReceipt?

        package init(
            protocols: ClosedRange<UInt32>, features: UInt64, featuresRequired: UInt64, name: String, runID: UInt64,
            sessionNumber: UInt64, wallMilliseconds: Int64, agentVersion: String, instance: String,
            listenPort: UInt16, waitingRoomBytes: UInt64, twinRun: UInt64 = 0, twinSignature: [UInt8] = [],
            statementCount: UInt32 = 0, wipeReceipt: WipeReceipt? = nil
        ) {
            self.protocols = protocols
            self.features = features
            self.featuresRequired = featuresRequired
            self.name = name
            self.runID = runID
            self.sessionNumber = sessionNumber
            self.wallMilliseconds = wallMilliseconds
            self.agentVersion = agentVersion
            self.instance = instance
            self.listenPort = listenPort
            self.waitingRoomBytes = waitingRoomBytes
            self.twinRun = twinRun
            self.twinSignature = twinSignature
            self.statementCount = statementCount
            self.wipeReceipt = wipeReceipt
        }
    }
}
