import Glibc

/// The bytes of a word of the command line. A file's name on Linux is any bytes; where they are no UTF-8, the text that the
/// parser sees has replacement characters and opens nothing.
enum RawArgument {
    /// Returns the bytes of the `number`-th word, from 0, among those that read like `text`; the text's own bytes if there is
    /// none.
    static func bytes(of text: String, number: Int = 0) -> [UInt8] {
        let words = words.filter { String(decoding: $0, as: UTF8.self) == text }
        return words.indices.contains(number) ? words[number] : Array(text.utf8)
    }

    private static let words: [[UInt8]] = (1..<max(1, Int(CommandLine.argc))).compactMap { index in
        CommandLine.unsafeArgv[index].map { Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
    }
}
