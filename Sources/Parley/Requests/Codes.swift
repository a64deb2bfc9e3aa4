/// A text as a picture for a camera, which a screen draws as it likes: an invite, a card, a safety number.
public struct DrawCode: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "drawCode", RequestScope.read,
        "A text as a QR code, row by row."
    )
    /// An example of the request.
    public static let example = DrawCode(text: "parley:1:QUJD")

    /// The text, of at most 2,953 bytes.
    public var text: String

    /// A request with these parameters.
    public init(text: String) { self.text = text }

    /// Answers the request.
    public func perform(on node: Node) async throws -> CodeView {
        guard let code = QRCode(text) else {
            throw NodeError(
                "code-too-long", "That text is too long for a QR code.",
                hint: "A QR code holds \(QRCode.byteCountMax) bytes. Send the text itself instead.")
        }
        return CodeView(
            rows: (0..<code.size).map { row in
                (0..<code.size).map { code.isDark(row, $0) ? "1" : "0" }.joined()
            })
    }
}

/// A QR code.
public struct CodeView: Codable, Equatable, Sendable {
    /// From the top: `1` is dark, `0` is light. Draw it with a light margin of four modules.
    public var rows: [String]
}
