import ControlAPI
import Foundation
import Testing
import lanyard

@Suite struct AttachmentTextTests {
    @Test(
        arguments: [
            ("0", 0), ("500", 500), ("64k", 65_536), ("64KiB", 65_536), ("64 kb", 64_000), ("1.5GiB", 1_610_612_736),
            ("2G", 2_147_483_648), ("1TB", 1_000_000_000_000), ("18446744073709551615", UInt64.max),
        ] as [(String, UInt64)])
    func `amounts are read`(text: String, bytes: UInt64) { #expect(ByteAmount.parse(text) == bytes) }

    @Test(arguments: ["", "k", "-1", "1.5", "1x", "1 2", "99999999999T", "18446744073709551616", "1e3", ".", "0x10"])
    func `other texts are no amounts`(text: String) { #expect(ByteAmount.parse(text) == nil) }

    @Test(
        arguments: [
            (0, "0 B"), (1_023, "1023 B"), (1_024, "1.0 KiB"), (1_048_575, "1.0 MiB"), (10 << 30, "10 GiB"),
            (UInt64.max, "16777216 TiB"),
        ] as [(UInt64, String)])
    func `amounts are shown`(bytes: UInt64, text: String) { #expect(ByteAmount.text(bytes) == text) }

    @Test func `a rate is that of the last seconds`() {
        var meter = RateMeter()
        #expect(meter.bytesPerSecond == 0)
        for second in 0..<20 { meter.record(UInt64(second) * 1_000, at: Double(second)) }
        #expect(meter.bytesPerSecond == 1_000)
        for second in 20..<30 { meter.record(19_000, at: Double(second)) }
        #expect(meter.bytesPerSecond == 0, "it stopped, whatever it did before")
    }

    @Test func `progress says how much, how fast and how long`() {
        let half = ByteProgress(doneBytes: 1 << 29, totalBytes: 1 << 30, bytesPerSecond: 8 << 20)
        #expect(ProgressText.text("a.jpg", half) == "a.jpg  50 %  512 MiB of 1.0 GiB  8.0 MiB/s  1 min left")
        let endless = ByteProgress(doneBytes: 1 << 20, totalBytes: 0, bytesPerSecond: 1 << 20)
        #expect(ProgressText.text("", endless) == "1.0 MiB  1.0 MiB/s")
        let still = ByteProgress(doneBytes: 0, totalBytes: 10, bytesPerSecond: 0)
        #expect(ProgressText.text("x", still) == "x  0 %  0 B of 10 B")
    }

    @Test func `a place is a directory that is there or is said to be one, or a name`() {
        #expect(OutputPlace("/tmp", fileName: "f").name == "f")
        #expect(OutputPlace("nowhere/", fileName: "f").path == "nowhere/f")
        #expect(OutputPlace("nowhere/g", fileName: "f").directory == "nowhere/")
        #expect(OutputPlace("g", fileName: "f").path == "g")
    }

    @Test(arguments: ["", ".", "..", "a/b", "a\0b", String(repeating: "x", count: 256)])
    func `names that lead elsewhere are no names of files`(name: String) { #expect(!FileOutput.isOnePart(name)) }

    @Test func `a file that grows or is written to while it is read is not attached`() async throws {
        let directory = try TemporaryDirectory()
        let path = "\(directory.path)/f"
        let half = Data(repeating: 1, count: 300_000)
        try half.write(to: URL(fileURLWithPath: path))
        let file = try FileInput(path: Array(path.utf8))
        #expect(file.size == 300_000 && file.name == "f")
        var iterator = file.makeAsyncIterator()
        #expect(try await iterator.next()?.count == 262_144)
        let writer = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try writer.seekToEnd()
        try writer.write(contentsOf: Data([2]))
        try writer.close()
        let error = await #expect(throws: ControlError.self) { while try await iterator.next() != nil {} }
        #expect(error?.code == .fileChanged)
        var whole: [UInt8] = []
        for try await bytes in try FileInput(path: Array(path.utf8)) { whole += bytes }
        #expect(whole.count == 300_001)
    }

    @Test func `a file that is given up leaves nothing, and one that came meanwhile stays`() throws {
        let directory = try TemporaryDirectory()
        func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: directory.path) }
        do {
            let file = try FileOutput(directory: directory.path, name: "f", replaces: false)
            try file.write([1])
            #expect(try names().count == 1 && names() != ["f"], "it is not seen under its name")
        }
        #expect(try names().isEmpty)
        let late = try FileOutput(directory: directory.path, name: "f", replaces: false)
        try late.write([1])
        try Data("other".utf8).write(to: URL(fileURLWithPath: "\(directory.path)/f"))
        let error = #expect(throws: ControlError.self) { try late.finish() }
        #expect(error?.code == .alreadyExists)
        #expect(try String(contentsOfFile: "\(directory.path)/f", encoding: .utf8) == "other")
    }

    @Test func `an entry and its object read back`() throws {
        let record = AttachmentRecord(
            id: "A", name: "n", mediaType: "image/png", size: 3, width: 640, height: .max, hash: "0f")
        let entry = AttachmentEntry(record: record, owner: "note/n", state: .partial, progress: 0.5, fileName: "n")
        let bytes = JSONEncoding.bytes(entry)
        #expect(try JSONDecoding.value(AttachmentEntry.self, from: bytes, unknownKeys: .refuse) == entry)
        let object = ObjectEntry(
            id: "n", collection: "note", fields: try JSONText("{}"), version: DotText(replica: "R", counter: 1),
            attachments: [entry])
        var writer = JSONWriter()
        object.write(to: &writer)
        #expect(writer.bytes == JSONEncoding.bytes(object))
        #expect(try JSONDecoding.value(ObjectEntry.self, from: writer.bytes, unknownKeys: .refuse) == object)
        let put = try ObjectPut(line: try JSONText(writer.bytes), collection: "note")
        #expect(put.id == "n" && put.fields.description == "{}", "its attachments stay as they are")
    }
}
