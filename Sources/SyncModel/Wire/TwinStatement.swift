import Crypto

/// A signed statement of one run of a device about another: "I run with this device's keys, and this other run is not me." An
/// agent believes it when a peer reports that the agent's identity is used twice.
///
/// The signer is named by its own run, and names the reader's. A run id is random and new at each start, so no earlier run
/// can have left such a statement behind: only a live holder of the keys can have signed it.
package struct TwinStatement: Hashable, Sendable {
    package let device: DeviceID
    /// The run that signed.
    package let run: UInt64
    package let other: UInt64
    /// Ed25519, with the device's signing key.
    package let signature: [UInt8]

    package init(device: DeviceID, run: UInt64, other: UInt64, signature: [UInt8]) {
        self.device = device
        self.run = run
        self.other = other
        self.signature = signature
    }

    /// Returns the message that is signed.
    package static func message(device: DeviceID, run: UInt64, other: UInt64) -> [UInt8] {
        var bytes = Array("lanyard/twin/v1".utf8) + device.bytes
        bytes.append(bigEndian: run)
        bytes.append(bigEndian: other)
        return bytes
    }

    package func isSigned(by signingKey: [UInt8]) -> Bool {
        guard run != other, let key = try? Curve25519.Signing.PublicKey(rawRepresentation: signingKey) else {
            return false
        }
        return key.isValidSignature(signature, for: Self.message(device: device, run: run, other: other))
    }

    package static func signed(
        device: DeviceID, run: UInt64, other: UInt64, _ sign: ([UInt8]) -> [UInt8]
    ) -> TwinStatement {
        let signature = sign(message(device: device, run: run, other: other))
        return TwinStatement(device: device, run: run, other: other, signature: signature)
    }

    /// True if a frame may hold this as the signature that goes with a run.
    static func isSignature(_ bytes: [UInt8], of run: UInt64) -> Bool {
        bytes.isEmpty || bytes.count == 64 && run != 0
    }
}

extension Frame.Hello {
    /// Returns the frame with the sender's signature over the run that it names, if it names one.
    package func signing(as device: DeviceID, _ sign: ([UInt8]) -> [UInt8]) -> Frame.Hello {
        guard twinRun != 0 else { return self }
        var hello = self
        hello.twinSignature = TwinStatement.signed(device: device, run: runID, other: twinRun, sign).signature
        return hello
    }
}
