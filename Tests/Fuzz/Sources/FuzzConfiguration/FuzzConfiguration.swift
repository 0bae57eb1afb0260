import SyncModel

/// Any bytes as a configuration file: nothing traps, and what is taken is written as a file that gives it again.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzConfiguration(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    do throws(ConfigurationError) {
        let configuration = try read(String(decoding: bytes, as: UTF8.self))
        precondition((try? read(configuration.toml)) == configuration, "a file gives another configuration")
    } catch {
        precondition(!error.description.isEmpty)
    }
    return 0
}

private func read(_ text: String) throws(ConfigurationError) -> AgentConfiguration {
    try AgentConfiguration(
        layers: [try ConfigurationLayer(text: text, path: "c.toml")], environment: ["HOME": "/home/a"], hostName: "a")
}
