import Foundation
import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyStorage
import ParleyWire

/// Shows a picture of a group, as its owners and admins may; an empty one ends that.
public struct ChangeGroupPicture: NodeRequest {
    /// The method, what a token must allow, and what it is for.
    public static let (name, scope, summary) = (
        "changeGroupPicture", RequestScope.write,
        "Shows a picture of a group; an empty one ends that."
    )
    /// As somebody would ask it.
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

    /// Answers it.
    public func perform(on node: Node) async throws -> NoReply {
        let bytes = try PictureView.bytes(picture)
        _ = try await node.write(.setPicture(try await node.space(conversation), bytes))
        return NoReply()
    }
}

/// The picture of a group, or nothing where none is shown.
public struct GetGroupPicture: NodeRequest {
    /// The method, what a token must allow, and what it is for.
    public static let (name, scope, summary) = (
        "groupPicture", RequestScope.read,
        "The picture of a group."
    )
    /// As somebody would ask it.
    public static let example = GetGroupPicture(conversation: "trip")

    /// The group: its name, its identifier or a start of that.
    public var conversation: String

    /// A request with these parameters.
    public init(conversation: String) { self.conversation = conversation }

    /// Answers it.
    public func perform(on node: Node) async throws -> PictureView {
        try await node.read { views in
            let space = try views.conversation(conversation)
            return PictureView(try Overview.picture(of: space.number, in: views.store) ?? [])
        }
    }
}

/// A small picture, as its sender gave it: nobody has looked at it.
public struct PictureView: Codable, Equatable, Sendable {
    /// The bytes, in Base64; empty where there is none.
    public var base64: String
    /// What it is by its first bytes, as "image/jpeg"; empty where that is not known.
    public var type: String

    /// What a small picture may be, as its first bytes tell.
    private static let types: Set<String> = ["image/jpeg", "image/png", "image/gif", "image/webp"]

    /// A picture of these bytes; of none where there is none.
    init(_ bytes: [UInt8]) {
        base64 = Data(bytes).base64EncodedString()
        type = bytes.isEmpty ? "" : FileKind.type(of: Array(bytes.prefix(512)))
    }

    /// The bytes of a small picture that a person or a group is to show; none for no picture.
    ///
    /// - Throws: ``NodeError`` where it is none, or too large.
    static func bytes(_ base64: String) throws -> [UInt8] {
        guard let data = Data(base64Encoded: base64), data.count <= Limits.inlineFileByteCountMax,
            data.isEmpty || types.contains(FileKind.type(of: Array(data.prefix(512))))
        else { throw NodeError.badPicture }
        return Array(data)
    }
}

extension NodeError {
    /// What is to be shown is no small picture.
    static var badPicture: NodeError {
        NodeError(
            "bad-picture", "That cannot be a picture of a person or a group.",
            hint: "It is a JPEG, PNG, GIF or WebP of at most "
                + "\(Limits.inlineFileByteCountMax >> 10) KiB.")
    }
}
