import Foundation
import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyStorage
import ParleyWire

/// Seals a file of this machine, so that a message can bring it. It answers at once: `stagedFile` tells how
/// far it is.
public struct StageFile: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "stageFile", RequestScope.admin,
        "Encrypts a file of this machine, so that a message can have it."
    )
    /// An example of the request.
    public static let example = StageFile(path: "/home/ann/photo.jpg")

    /// Where it is, from the root of the file system on.
    public var path: String
    /// The same in Base64, where its bytes are no UTF-8: `path` then only shows it. Nil where they are.
    public var rawPath: String?
    /// Its name; the end of its path if omitted.
    public var name: String?
    /// Its type, such as "image/jpeg"; determined from its first bytes if omitted.
    public var type: String?
    /// Whether it is sent with all metadata: otherwise that is removed from pictures and videos.
    /// Nil for false.
    public var keepsMetadata: Bool?
    /// Whether it becomes a voice note. Nil for false.
    public var isVoice: Bool?
    /// How many bytes of its message it may take, its preview among them: several files share 44 KiB with
    /// their text. All that one file may take where it is left out.
    public var room: Int?

    /// A request with these parameters.
    public init(
        path: String, rawPath: String? = nil, name: String? = nil, type: String? = nil,
        keepsMetadata: Bool? = nil, isVoice: Bool? = nil, room: Int? = nil
    ) {
        self.path = path
        self.rawPath = rawPath
        self.name = name
        self.type = type
        self.keepsMetadata = keepsMetadata
        self.isVoice = isVoice
        self.room = room
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> StagedFile {
        let bytes = rawPath.map { Data(base64Encoded: $0).map(Array.init) } ?? Array(path.utf8)
        guard let bytes, bytes.first == UInt8(ascii: "/"), !bytes.contains(0) else {
            throw NodeError("bad-path", "A path must begin with a slash.")
        }
        var wish = FileWish(keepsMetadata: keepsMetadata == true, isVoice: isVoice == true)
        if let room { wish.room = min(room, wish.room) }
        return try await node.depot.stage(
            FileSource(path, at: bytes), called: name ?? (path as NSString).lastPathComponent,
            type: type, wish)
    }
}

/// How far a file is that is to be sent.
public struct GetStagedFile: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "stagedFile", RequestScope.admin,
        "The progress of a file that is to be sent."
    )
    /// An example of the request.
    public static let example = GetStagedFile(ticket: "0123456789abcdef")

    /// What ``StageFile`` answered.
    public var ticket: String

    /// A request with these parameters.
    public init(ticket: String) { self.ticket = ticket }

    /// Answers the request.
    public func perform(on node: Node) async throws -> StagedFile {
        guard let staged = node.depot.staged(ticket) else { throw NodeError.noTicket }
        return staged.view
    }
}

/// Drops a file that was to be sent and is not.
public struct DropStagedFile: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "dropStagedFile", RequestScope.write,
        "Drops a file that was to be sent and was not. One that was sent stays."
    )
    /// An example of the request.
    public static let example = DropStagedFile(ticket: "0123456789abcdef")

    /// What ``StageFile`` answered.
    public var ticket: String

    /// A request with these parameters.
    public init(ticket: String) { self.ticket = ticket }

    /// Answers the request.
    public func perform(on node: Node) async throws -> NoReply {
        await node.depot.drop(ticket)
        return NoReply()
    }
}

/// The messages that bring files, of a conversation or of all, the newest first.
public struct ListFiles: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "files", RequestScope.read,
        "The messages that have files, of a conversation or of all, the newest first."
    )
    /// An example of the request.
    public static let example = ListFiles(conversation: "trip", limit: 20)

    /// The conversation; nil for all.
    public var conversation: String?
    /// How many messages, at most; ``FileView/countMax`` where it is left out.
    public var limit: Int?
    /// `next` of the page before; nil for the first.
    public var from: String?

    /// A request with these parameters.
    public init(conversation: String? = nil, limit: Int? = nil, from: String? = nil) {
        self.conversation = conversation
        self.limit = limit
        self.from = from
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> FileList {
        let limit = min(max(limit ?? FileView.countMax, 1), FileView.countMax)
        return try await node.read { try $0.files(in: conversation, limit: limit, from: from) }
    }
}

/// The files of a message, and how far they are.
public struct ListMessageFiles: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "messageFiles", RequestScope.read,
        "The files of a message, and their progress."
    )
    /// An example of the request.
    public static let example = ListMessageFiles(message: 12)

    /// The message.
    public var message: MessageReference

    /// A request with these parameters.
    public init(message: MessageReference) { self.message = message }

    /// Answers the request.
    public func perform(on node: Node) async throws -> [FileView] {
        try await node.read { try $0.message($0.message(message))?.files ?? [] }
    }
}

/// Fetches the files of a message, however large they are. It answers at once.
public struct FetchFiles: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "fetchFiles", RequestScope.write,
        "Fetches the files of a message, however large they are."
    )
    /// An example of the request.
    public static let example = FetchFiles(message: 12)

    /// The message.
    public var message: MessageReference

    /// A request with these parameters.
    public init(message: MessageReference) { self.message = message }

    /// Answers the request.
    public func perform(on node: Node) async throws -> MessageView {
        let number = try await node.read { try $0.message(message) }
        _ = try await node.running.perform(.file(.fetch(number)))
        return try await node.read { views in
            guard let view = try views.message(number) else { throw NodeError(.unknownMessage) }
            return view
        }
    }
}

/// Writes a file of a message into one of this machine; nothing is ever written over.
public struct SaveFile: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "saveFile", RequestScope.admin,
        "Writes a file of a message into one of this machine; nothing is ever overwritten."
    )
    /// An example of the request.
    public static let example = SaveFile(message: 12, path: "/home/ann/Downloads/")

    /// The message.
    public var message: MessageReference
    /// Which of its files, from 1; the only one if omitted.
    public var number: Int?
    /// The target path, from the root of the file system. In a folder the file gets its own name,
    /// with a number if that is taken.
    public var path: String
    /// Whether its small picture is written in its place. Nil for false.
    public var isPreview: Bool?

    /// A request with these parameters.
    public init(
        message: MessageReference, number: Int? = nil, path: String, isPreview: Bool? = nil
    ) {
        self.message = message
        self.number = number
        self.path = path
        self.isPreview = isPreview
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> SavedFile {
        guard path.hasPrefix("/"), !path.utf8.contains(0) else {
            throw NodeError("bad-path", "A path must begin with a slash.")
        }
        var file = try await node.read { try $0.file(number, of: message) }
        if isPreview == true { file = try file.preview() }
        let saved = file
        var isFolder: ObjCBool = false
        let isThere = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
        guard isThere, isFolder.boolValue else {
            return try await node.opening(saved) { try await node.depot.save(saved, to: path) }
        }
        let folder = path.hasSuffix("/") ? path : path + "/"
        for place in 1...1000 {
            let name = FileName.numbered(FileName.harmless(saved.name), place)
            do {
                return try await node.opening(saved) {
                    try await node.depot.save(saved, to: folder + name)
                }
            } catch let error as NodeError where error.code == "exists" { continue }
        }
        throw NodeError("exists", "\(folder) has a thousand files of that name.")
    }
}

/// Some bytes of a file of a message, for programs that show it.
public struct ReadFile: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "readFile", RequestScope.read,
        "A range of bytes of a file of a message."
    )
    /// An example of the request.
    public static let example = ReadFile(message: 12, number: 1, offset: 0, count: 65_536)

    /// The message.
    public var message: MessageReference
    /// Which of its files, from 1; the only one if omitted.
    public var number: Int?
    /// The first byte, from 0.
    public var offset: Int
    /// How many bytes, at most ``FileBytes/countMax``.
    public var count: Int

    /// A request with these parameters.
    public init(message: MessageReference, number: Int? = nil, offset: Int, count: Int) {
        self.message = message
        self.number = number
        self.offset = offset
        self.count = count
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> FileBytes {
        guard offset >= 0, count >= 0, UInt64(offset) <= Limits.fileByteCountMax else {
            throw NodeError("bad-range", "Bytes are counted from 0.")
        }
        let file = try await node.read { try $0.file(number, of: message) }
        let bytes = try await node.opening(file) {
            try await node.depot.bytes(of: file, from: offset, count: count)
        }
        return FileBytes(base64: Data(bytes).base64EncodedString(), size: file.size.value)
    }
}

/// Why a file is not here, and who can deliver it.
public struct ExplainFile: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "explainFile", RequestScope.read,
        "Why a file is not here, and who may have it."
    )
    /// An example of the request.
    public static let example = ExplainFile(message: 12)

    /// The message.
    public var message: MessageReference
    /// Which of its files, from 1; the only one if omitted.
    public var number: Int?

    /// A request with these parameters.
    public init(message: MessageReference, number: Int? = nil) {
        self.message = message
        self.number = number
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> [String] {
        try await node.read { try $0.explanation(of: $0.file(number, of: message)) }
    }
}

extension Node {
    /// Opens a file; of one of which a part turns out to be damaged it is known then that the part is not here.
    fileprivate func opening<R>(
        _ file: Attachment, _ body: () async throws -> R
    ) async throws -> R {
        do {
            let result = try await body()
            await noteUse(of: file)
            return result
        } catch let error as NodeError
            where error.code == "file-damaged"
        {
            if let blob = file.blob { await running.reread(blob) }
            throw error
        }
    }

    /// When a file was opened is noted so often, in milliseconds: it decides by days.
    private static let useInterval: UInt64 = 3_600_000

    private func noteUse(of file: Attachment) async {
        guard let blob = file.blob else { return }
        do {
            let last = try await running.read { try HeldFile.kept(blob, in: $0.store)?.lastUse }
            guard let last, running.now.wall >= last.value + Self.useInterval else { return }
            _ = try await running.perform(.file(.noteUse(blob)))
        } catch {
            // Of a home that cannot be written nothing is given up either.
        }
    }
}

extension NodeError {
    static let noTicket = NodeError(
        "no-ticket", "No file waits to be sent under that ticket.",
        hint: "A ticket works for one message, until the node stops.")
}
