extension SimulatedDevice {
    /// ECDSA signs with chance, so these eight were made once and kept: the n-th device key's signature (raw) over the
    /// binding message of the n-th signing key. `MemberFact.isBound` checks them at every start.
    static let bindings: [[UInt8]] = [
        bytes(
            "55efa870507ac5f0602798e18ef46ea06da717926dacbd02260991a06c7604b6"
                + "0caf1b73c9141c3b6a248cbabeb13edf91203efb8a50f5a3015afa7dca0a2f4e"),
        bytes(
            "5bf8b3b377e040d0e2e003d3fda6a56cc1bd197aed82aec18fce3f84793523ef"
                + "2c447e3200bfbd9fe3d417abe11c8a0e19788a1212bb02064af64ebc50939bde"),
        bytes(
            "a7a73da43ced486124b1ac54d6d7c63b74f22f9197ba0771e68be164e6a0865b"
                + "711c7aa3c9998d96218efbbd40c2c20922be7fde85e61bf13fd73a9f7fe01fd4"),
        bytes(
            "e4b338631c8b88c772f4c4ff05ba71583e16d957e357cc764231e2bb8880ecc7"
                + "3ea168da0ec8b1a305e318595fffef56fd97932c3a19e233ce2a7974e2860925"),
        bytes(
            "9f998b86705f03d8ddadb9c5a78691a72d0e86d5ef8c2e77404ebdd4bebff314"
                + "9fe77637913ea4ed412fd1efb5689f26c50558add709daf85856cc884b321a33"),
        bytes(
            "34c22ccd11eec35ca1d357be47b54d018fc533eddc024c9dea71f7d68595d212"
                + "877f68e39aaeb5fb51d89908f2f0b15159e2968c1add61e33882ff881224c179"),
        bytes(
            "2dd5953e1de3df9d2317f9deac12faccd1e9e2bd1434943886fe739cfdd0de3b"
                + "57cffb1788e52bcf3ee7b5349146391138bf76a810c7cb23a48ccbd2ed66201b"),
        bytes(
            "477c0587e5d2db2176672eaca90b959689ab018d39a248a6a7d999c3b60c3abc"
                + "3beb02f525e96df7e96d0ddabfc982f97a18b155d5e823a3e933b714f63d6919"),
    ]

    private static func bytes(_ text: String) -> [UInt8] {
        let digits = text.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) }
    }
}
