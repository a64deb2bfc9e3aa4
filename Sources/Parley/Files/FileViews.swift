/// A file in a message.
public struct FileView: Codable, Equatable, Sendable {
    /// How many are listed at once, at most.
    public static let countMax = 200

    /// Its place among the files of the message, from 1.
    public var number: Int
    /// What it is called, made harmless: it may be used as the name of a file.
    public var name: String
    /// How many bytes it has.
    public var size: UInt64
    /// What it is, as "image/jpeg"; empty where its sender does not say. Nobody has looked at it.
    public var type: String
    /// `here`; `fetching` while somebody who is reached has some of it; `waiting` where it is wanted and nobody
    /// who is reached has any; `full` where it is wanted and does not fit into what files may take here; `disk-full` where the disk took
    /// nothing of it when it was last tried;
    /// `absent` where it is not here and not wanted.
    public var state: String
    /// How many of its bytes are here.
    public var heldByteCount: UInt64
    /// Of a picture, in points; 0 where it is not known.
    public var width: Int
    /// Of a picture, in points; 0 where it is not known.
    public var height: Int
    /// In milliseconds, of what sounds or moves; else 0.
    public var duration: Int
    /// Whether it was spoken for its message.
    public var isVoice: Bool
    /// How loud it is in equal parts of its time, 0 to 255 each; empty where its sender does not say.
    public var waveform: [UInt8] = []
    /// What is said in it, by its sender's word; nil where they do not say.
    public var transcript: String? = nil
    /// Whether a small picture of it came along: ``ReadPreview`` gives it.
    public var hasPreview: Bool
    /// The sealed file's name, the same on all devices; nil of one that is inside its message.
    public var blob: String?
    /// Of a file that this device sent, the names of those in the conversation of whom a device holds all of it, by
    /// what it said last; nil of any other, and of one that is inside its message.
    public var holders: [String]? = nil
    /// The same of those to whom all of it has come by their receipts, and who may have given it up since.
    public var receivers: [String]? = nil
}

extension FileView {
    /// Who else has a file that this device sent, in a few words; nil of any other.
    public var elsewhere: String? {
        guard let holders, let receivers else { return nil }
        var parts: [String] = []
        if !holders.isEmpty {
            parts.append("\(Self.enumerated(holders)) \(holders.count == 1 ? "has" : "have") it")
        }
        if !receivers.isEmpty { parts.append("came to \(Self.enumerated(receivers))") }
        return parts.isEmpty ? "nobody has fetched it yet" : parts.joined(separator: ", ")
    }

    /// So many are named.
    private static let nameCountMax = 3

    private static func enumerated(_ names: [String]) -> String {
        let rest = names.count - nameCountMax
        if rest > 0 {
            return names.prefix(nameCountMax).joined(separator: ", ") + " and \(rest) more"
        }
        guard names.count > 1, let last = names.last else { return names.first ?? "" }
        return names.dropLast().joined(separator: ", ") + " and " + last
    }
}

/// The files of a message, as a list of files shows them.
public struct FileEntry: Codable, Equatable, Sendable {
    /// The message.
    public var message: MessageView
    /// The title of its conversation.
    public var place: String
}

/// A page of a list of files.
public struct FileList: Codable, Equatable, Sendable {
    /// The newest first.
    public var entries: [FileEntry]
    /// What `from` takes for those that follow; nil where none do.
    public var next: String?
}

/// A file that is to be sent, while it is sealed and afterwards.
public struct StagedFile: Codable, Equatable, Sendable {
    /// Names it in ``SendMessages``.
    public var ticket: String
    /// What it is called.
    public var name: String
    /// How many bytes it has.
    public var size: UInt64
    /// How many of them are sealed.
    public var sealedByteCount: UInt64
    /// Whether it can be sent.
    public var isReady: Bool
    /// Whether a small picture of it goes along.
    public var hasPreview: Bool
    /// Why something that could be expected of it is missing; nil where nothing is.
    public var note: String?
    /// Why it cannot; nil while it can, or may yet.
    public var failure: NodeError?
}

/// Some bytes of a file.
public struct FileBytes: Codable, Equatable, Sendable {
    /// How many come at once, at most.
    public static let countMax = 512 * 1024
    /// The bytes, in Base64.
    public var base64: String
    /// How many bytes the file has.
    public var size: UInt64
}

/// The small picture in the place of a file.
public struct FilePreview: Codable, Equatable, Sendable {
    /// JPEG, PNG or WebP, in Base64. Its sender made it: decode it where nothing can be lost.
    public var base64: String
    /// What it is, by how it begins: `image/jpeg`, `image/png` or `image/webp`.
    public var type: String
}

/// A file that was written into a folder.
public struct SavedFile: Codable, Equatable, Sendable {
    /// Where it is.
    public var path: String
    /// How many bytes it has.
    public var size: UInt64
}
