import Foundation
import ParleyConversation
import ParleyFiles
import ParleyNodeCore
import ParleyWire

/// The small picture in the place of a file, or beside a link, which is here as soon as its message is.
public struct ReadPreview: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "readPreview", RequestScope.read,
        "The small preview picture of a file, or of a link."
    )
    /// An example of the request.
    public static let example = ReadPreview(message: 12, number: 1)

    /// The message.
    public var message: MessageReference
    /// Which of its files, from 1; the only one if omitted.
    public var number: Int?
    /// Whether it is that of the message's link. Nil for false.
    public var isLink: Bool?

    /// A request with these parameters.
    public init(message: MessageReference, number: Int? = nil, isLink: Bool? = nil) {
        self.message = message
        self.number = number
        self.isLink = isLink
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> FilePreview {
        let picture =
            isLink == true
            ? try await node.read { try $0.link(of: message)?.picture ?? [] }
            : try await node.read { try $0.file(number, of: message) }.look.preview
        guard let type = PreviewForm.type(of: picture) else { throw NodeError.noPreview }
        return FilePreview(base64: Data(picture).base64EncodedString(), type: type)
    }
}

/// The forms that a small picture may have.
enum PreviewForm {
    /// The type of a preview by its first bytes; nil if it is none of these.
    static func type(of preview: [UInt8]) -> String? {
        let type = FileKind.type(of: preview)
        return ["image/jpeg", "image/png", "image/webp"].contains(type) ? type : nil
    }
}

extension Attachment {
    /// The preview, as a separate file.
    func preview() throws -> Attachment {
        guard let type = PreviewForm.type(of: look.preview) else { throw NodeError.noPreview }
        let base = (FileName.harmless(name) as NSString).deletingPathExtension
        let ending = type == "image/jpeg" ? "jpg" : String(type.dropFirst(6))
        return Attachment(
            name: "\(base).preview.\(ending)", size: BlobSize(clamping: UInt64(look.preview.count)),
            type: type, content: .inline(look.preview))
    }
}

extension NodeError {
    static let noPreview = NodeError(
        "no-preview", "That has no preview.",
        hint: "Its sender had no program that makes previews, or it is nothing that can be shown.")
}
