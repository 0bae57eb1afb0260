/// A word of a command that can be pasted into a shell.
package enum ShellWord {
    /// The word itself where the shell takes it as it is, else in single quotes.
    package static func quoted(_ word: String) -> String {
        let plain = word.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
            case _: "/._-:=@%+,".utf8.contains(byte)
            }
        }
        if plain, !word.isEmpty { return word }
        return "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}
