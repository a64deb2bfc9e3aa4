import ParleyWire

/// A file in a message.
public struct FileView: Codable, Equatable, Sendable {
    /// How many are listed at once, at most.
    public static let countMax = 200

    /// Its place among the files of the message, from 1.
    public var number: Int
    /// Its name, sanitised: it may be used as the name of a file.
    public var name: String
    /// How many bytes it has.
    public var size: UInt64
    /// Its type, such as "image/jpeg"; empty if its sender does not say. Nobody has checked it.
    public var type: String
    /// `here`; `fetching` while a connected device has some of it; `waiting` if it is wanted and no
    /// connected device has any; `full` if it is wanted and exceeds the space for files here;
    /// `disk-full` if the disk accepted nothing of it when it was last tried; `absent` if it is not
    /// here and not wanted.
    public var state: String
    /// How many of its bytes are here.
    public var heldByteCount: UInt64
    /// For a picture, in pixels; 0 if it is not known.
    public var width: Int
    /// For a picture, in pixels; 0 if it is not known.
    public var height: Int
    /// In milliseconds, of what sounds or moves; else 0.
    public var duration: Int
    /// Whether it was spoken for its message.
    public var isVoice: Bool
    /// How loud it is in equal parts of its time, 0 to 255 each; empty where its sender does not say.
    public var waveform: [UInt8] = []
    /// Its transcript, as its sender claims; nil if there is none.
    public var transcript: String? = nil
    /// Whether a small picture of it came along: ``ReadPreview`` returns it.
    public var hasPreview: Bool
    /// The sealed file's name, the same on all devices; nil of one that is inside its message.
    public var blob: String?
    /// For a file that this device sent: the names of those in the conversation with a device that
    /// holds all of it, by its last answer; nil for any other, and for one inside its message.
    public var holders: [String]? = nil
    /// The same for those who received all of it by their receipts, and may have given it up since.
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
        if !receivers.isEmpty { parts.append("fetched by \(Self.enumerated(receivers))") }
        return parts.isEmpty ? "nobody has fetched it yet" : parts.joined(separator: ", ")
    }

    /// So many are named.
    private static let nameCountMax = 3

    private static func enumerated(_ names: [String]) -> String {
        let rest = names.count - nameCountMax
        if rest > 0 {
            return VisibleName.list(Array(names.prefix(nameCountMax))) + " and \(rest) more"
        }
        guard names.count > 1, let last = names.last else { return names.first ?? "" }
        return VisibleName.list(names.dropLast()) + " and "
            + VisibleName.list([last])
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
    /// The value of `from` for the next page; nil if there is none.
    public var next: String?
}

/// A file that is to be sent, while it is sealed and afterwards.
public struct StagedFile: Codable, Equatable, Sendable {
    /// Names it in ``SendMessages``.
    public var ticket: String
    /// Its name.
    public var name: String
    /// How many bytes it has.
    public var size: UInt64
    /// How many of them are sealed.
    public var sealedByteCount: UInt64
    /// Whether it can be sent.
    public var isReady: Bool
    /// Whether a small picture of it goes along.
    public var hasPreview: Bool
    /// What the person has to know before it is sent: why something that could be expected is missing, or
    /// that nothing is removed of it; nil if there is nothing.
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
    /// Its type, by its first bytes: `image/jpeg`, `image/png` or `image/webp`.
    public var type: String
}

/// A file that was written into a folder.
public struct SavedFile: Codable, Equatable, Sendable {
    /// Where it is.
    public var path: String
    /// How many bytes it has.
    public var size: UInt64
}
