import ArgumentParser

/// The QR code of a short text, drawn in the terminal for a device with a camera.
struct QRPicture {
    private let code: QRCode?
    /// The columns of the output that draws it; nil where lines may have any length.
    private let columns: Int?

    /// - Parameter text: an id or a ticket: 80 characters at most.
    init(_ text: String, columns: Int? = TerminalWidth.current) {
        (code, self.columns) = (QRCode(Array(text.utf8)), columns)
    }

    /// Refuses the flag beside those of programs. A program takes the text from the answer and draws it as it likes; if the flag
    /// did nothing there, its author would look for the picture.
    static func check(_ isDrawn: Bool, _ global: GlobalOptions) throws {
        guard isDrawn, global.json || global.quiet else { return }
        let flag = global.json ? "--json" : "--quiet"
        throw ValidationError("--qr draws for people: without it, \(flag) gives a program the text to draw.")
    }

    /// The picture; empty where the terminal is too narrow, which would break its lines in two.
    func text(_ style: Style) -> String {
        guard fault == nil, let code else { return "" }
        return code.lines.map { style.whiteOnBlack($0) + "\n" }.joined()
    }

    /// A sentence that says why nothing is drawn; nil if it is.
    var fault: String? {
        guard let code, let columns, columns < code.width else { return nil }
        return "The QR code is not drawn: it needs \(code.width) columns, and this terminal has \(columns). "
            + "Make the window wider or its letters smaller, and ask again."
    }
}
