import Foundation
import ParleyConversation
import ParleyFiles
import ParleyLedger
import ParleyNodeCore
import ParleyStorage
import ParleyWire

/// Shows a picture of a group, as its owners and admins may; an empty one ends that.
public struct ChangeGroupPicture: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "changeGroupPicture", RequestScope.write,
        "Sets the picture of a group; an empty one removes it."
    )
    /// An example of the request.
    public static let example = ChangeGroupPicture(conversation: "trip", picture: "")

    /// The group: its name, its identifier or a start of that.
    public var conversation: String
    /// The picture, in Base64: a JPEG, PNG, GIF or WebP of at most 32 KiB; empty for none.
    public var picture: String

    /// A request with these parameters.
    public init(conversation: String, picture: String) {
        self.conversation = conversation
        self.picture = picture
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> NoReply {
        let bytes = try PictureView.bytes(picture)
        _ = try await node.write(.setPicture(try await node.space(conversation), bytes))
        return NoReply()
    }
}

/// The picture of a group, or nothing where none is shown.
public struct GetGroupPicture: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "groupPicture", RequestScope.read,
        "The picture of a group."
    )
    /// An example of the request.
    public static let example = GetGroupPicture(conversation: "trip")

    /// The group: its name, its identifier or a start of that.
    public var conversation: String

    /// A request with these parameters.
    public init(conversation: String) { self.conversation = conversation }

    /// Answers the request.
    public func perform(on node: Node) async throws -> PictureView {
        try await node.read { views in
            let space = try views.conversation(conversation)
            return PictureView(try Overview.picture(of: space.number, in: views.store) ?? [])
        }
    }
}

/// A small picture, as its sender gave it: nobody has inspected it.
public struct PictureView: Codable, Equatable, Sendable {
    /// The bytes, in Base64; empty if there is none.
    public var base64: String
    /// Its type by its first bytes, such as "image/jpeg"; empty if that is not known.
    public var type: String

    /// The accepted types of a small picture, by its first bytes.
    private static let types: Set<String> = ["image/jpeg", "image/png", "image/gif", "image/webp"]

    /// A picture of these bytes; none if there are none.
    init(_ bytes: [UInt8]) {
        base64 = Data(bytes).base64EncodedString()
        type = bytes.isEmpty ? "" : FileKind.type(of: Array(bytes.prefix(512)))
    }

    /// The bytes of a small picture that a person or a group is to show, without where, when and with what
    /// it was made; none for no picture.
    ///
    /// - Throws: ``NodeError`` if it is none, cannot be cleaned, or is too large.
    static func bytes(_ base64: String) throws -> [UInt8] {
        guard let data = Data(base64Encoded: base64), data.count <= Limits.inlineFileByteCountMax
        else { throw NodeError.badPicture }
        if data.isEmpty { return [] }
        let type = FileKind.type(of: Array(data.prefix(FileKind.startByteCount)))
        guard types.contains(type), let container = FileKind.container(of: type) else {
            throw NodeError.badPicture
        }
        do {
            let file = try MemoryFile(Array(data))
            var cleaned = EditedFile(file, try MediaForm.read(file, as: container).edits)
            return try cleaned.next(Int(cleaned.byteCount))
        } catch { throw NodeError.badPicture }
    }
}

extension NodeError {
    /// The given file is no small picture.
    static var badPicture: NodeError {
        NodeError(
            "bad-picture", "That cannot be used as the picture of a person or a group.",
            hint:
                "Use a JPEG, PNG, GIF or WebP of at most \(Limits.inlineFileByteCountMax >> 10) "
                + "KiB.")
    }
}
