import Testing

extension RigSuites.Stories {
    @Test func `a write that is sent again under its key is there once, also when the agent was killed in between`()
        throws
    {
        try StoryRig.tell { rig in
            let node = rig.node(1)
            let event = try asked("POST", "streams/orders/events", key: "order-1", #"{"payload":{"n":1}}"#, of: node)
            let object = try asked("POST", "collections/order/objects", key: "order-2", #"{"plays":1}"#, of: node)
            try node.setSchema("tally", ["fields": ["plays": "counter"]])
            try node.put("tally/a", ["plays": 0])
            let play = #"[{"op":"increment","path":"plays","by":1}]"#
            let counted = try asked("PATCH", "collections/tally/objects/a", key: "play-1", play, of: node)
            _ = try asked("PATCH", "collections/tally/objects/a", key: "play-2", play, of: node)
            try rig("kill", "1")
            try rig("start", "1")
            #expect(
                try asked("POST", "streams/orders/events", key: "order-1", #"{"payload":{"n":1}}"#, of: node) == event)
            #expect(
                try asked("POST", "collections/order/objects", key: "order-2", #"{"plays":1}"#, of: node) == object)
            #expect(try asked("PATCH", "collections/tally/objects/a", key: "play-1", play, of: node) == counted)
            #expect(try node.events("orders").count == 1)
            #expect(try node.fields("tally/a") == ["plays": 2])
            let other = try asked("POST", "streams/orders/events", key: "order-1", #"{"payload":{"n":2}}"#, of: node)
            #expect(other["error"]?["code"] == "idempotency_mismatch")
            try rig.inStep()
        }
    }

    private func asked(
        _ method: String, _ path: String, key: String, _ body: String, of node: Node
    ) throws -> JSONValue {
        let request = """
            curl --silent --unix-socket "$LANYARD_SOCKET" -X \(method) -H 'Content-Type: application/json' \\
                -H 'Idempotency-Key: \(key)' --data-binary @- http://localhost/v1/spaces/home/\(path)
            """
        return try node.decode(JSONValue.self, try node.run(["sh", "-c", request], input: body).output)
    }
}
