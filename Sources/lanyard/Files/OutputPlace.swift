import Glibc

/// The place of an output file: in a directory that exists or is marked as one, or under a given name.
package struct OutputPlace: Equatable {
    package let directory: String
    package let name: String

    package var path: String {
        directory.isEmpty || directory.hasSuffix("/") ? directory + name : "\(directory)/\(name)"
    }

    package init(_ output: String, fileName: String) {
        if output.hasSuffix("/") || Self.isDirectory(output) {
            (directory, name) = (output, fileName)
        } else if let slash = output.lastIndex(of: "/") {
            (directory, name) = (String(output[...slash]), String(output[output.index(after: slash)...]))
        } else {
            (directory, name) = ("", output)
        }
    }

    private static func isDirectory(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }
}
