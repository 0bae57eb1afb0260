import ControlAPI

/// Any bytes as the body of a request, or as a part of its query: what is accepted is written so that it reads the same.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzControl(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    body(InviteRequest.self, bytes)
    body(JoinRequest.self, bytes)
    body(PeerAddress.self, bytes)
    body(EditOperation.self, bytes)
    body(FieldPath.self, bytes)
    body(Transaction.self, bytes)
    body(StreamSettings.self, bytes)
    if let operations = try? EditOperation.list(parsing: bytes) {
        precondition((try? EditOperation.list(parsing: JSONEncoding.bytes(operations))) == operations)
    }
    if let text = try? JSONText(bytes) {
        precondition((try? JSONText(text.bytes)) == text, "a value reads back as another")
        if let schema = try? SchemaEntry(setting: text, of: "c"), let kept = try? JSONText(JSONEncoding.bytes(schema)) {
            precondition((try? SchemaEntry(kept: kept, of: "c"))?.collection == "c", "a schema is not read back")
        }
    }
    let text = String(decoding: bytes, as: UTF8.self)
    part(text)
    query(text)
    return 0
}

private func body<Value: Codable & Equatable>(_ type: Value.Type, _ bytes: [UInt8]) {
    do {
        let value = try JSONDecoding.value(type, from: bytes, unknownKeys: .refuse)
        let again = try? JSONDecoding.value(type, from: JSONEncoding.bytes(value), unknownKeys: .refuse)
        precondition(again == value, "\(type) reads back as another")
    } catch {
        precondition(!error.message.isEmpty)
    }
}

private func part(_ text: String) {
    if let path = try? FieldPath(parsing: text) {
        precondition((try? FieldPath(parsing: path.description)) == path, "a path reads back as another")
    }
    if let operation = try? EditOperation(parsing: text) { precondition(!operation.path.keys.isEmpty) }
    _ = try? EditOperation(parsing: text, valuesAsText: true)
    for kind in [NameKind.space, .stream, .consumer] { _ = try? NameRule.check(text, is: kind) }
}

/// Reads a condition of a query: one that is read is written so that it reads the same.
private func query(_ text: String) {
    if let condition = try? ObjectCondition(parsing: text) {
        precondition((try? ObjectCondition(parsing: condition.text)) == condition, "a condition reads back as another")
    }
    _ = try? ObjectCondition(parsing: text, valuesAsText: true)
    if let step = try? ListOrder.Step(parsing: text) {
        precondition((try? ListOrder.Step(parsing: step.text)) == step, "an order reads back as another")
    }
    if let position = try? EventPosition(parsing: text) {
        precondition((try? EventPosition(parsing: position.text)) == position, "a position reads back as another")
    }
    if let dot = try? DotText(parsing: text) {
        precondition((try? DotText(parsing: dot.description)) == dot, "a version reads back as another")
    }
    if let name = try? ObjectName(parsing: text) {
        precondition((try? ObjectName(parsing: name.description)) == name, "a name reads back as another")
    }
    if let address = try? HostPort(parsing: text) {
        precondition((try? HostPort(parsing: "\(address)")) == address, "an address reads back as another")
    }
    if let time = Timestamp(text) { precondition(time.description == text) }
}
