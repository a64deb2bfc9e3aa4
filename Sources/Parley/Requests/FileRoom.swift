import ParleyLedger
import ParleyNodeCore
import ParleyStorage

/// What files take on this device and may take, and which come by themselves.
public struct FileRoomView: Codable, Equatable, Sendable {
    /// Bytes that files take.
    public var usedByteCount: UInt64
    /// Bytes that they may take.
    public var roomByteCount: UInt64
    /// A file of at most this many bytes is fetched automatically; with 0 none is.
    public var fetchByteCountMax: UInt64
    /// The same for one kind of file, by `picture`, `video`, `sound` and `other`, as its sender says; a kind
    /// that is left out has what holds for all.
    public var fetchByteCountMaxByKind: [String: UInt64] = [:]
    /// A file that arrived or was opened within this many days is not given up to make room.
    public var keptDayCount: UInt64
    /// Files that are here.
    public var fileCount: Int
    /// Those of them that no other device is known to have: they are never given up by themselves.
    public var onlyHereCount: Int
    /// Bytes that those take.
    public var onlyHereByteCount: UInt64
    /// Files that are wanted and that the disk did not take when they were last tried.
    public var diskFullCount = 0
}

/// Files that were freed.
public struct FreedFiles: Codable, Equatable, Sendable {
    /// How many.
    public var count: Int
    /// Bytes that they took.
    public var byteCount: UInt64
    /// How many stayed because no connected device says that it holds them.
    public var onlyHereCount: Int
    /// The names of those of a message that stayed; nil where a conversation was named, or none stayed.
    public var stayed: [String]?
}

/// What files take on this device and may take, and which come by themselves.
public struct GetFileRoom: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "fileRoom", RequestScope.read,
        "How much space files take and may take on this device, and which are fetched "
            + "automatically."
    )
    /// An example of the request.
    public static let example = GetFileRoom()

    /// The request, which has no parameters.
    public init() {}

    /// Answers the request.
    public func perform(on node: Node) async throws -> FileRoomView {
        try await node.read { try $0.fileRoom() }
    }
}

/// Sets how much space files may use on this device, and which are fetched automatically. Omitted
/// settings stay as they are.
public struct SetFileRoom: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "setFileRoom", RequestScope.admin,
        "Sets how much space files may take on this device, and which are fetched automatically."
    )
    /// An example of the request.
    public static let example = SetFileRoom(
        roomByteCount: 10 << 30, fetchByteCountMax: 16 << 20, keptDayCount: 7)

    /// Bytes that files may take.
    public var roomByteCount: UInt64?
    /// A file of at most this many bytes is fetched automatically; with 0 none is.
    public var fetchByteCountMax: UInt64?
    /// The same for one kind of file: `picture`, `video`, `sound` or `other`. A kind that is left out stays as
    /// it is.
    public var fetchByteCountMaxByKind: [String: UInt64]?
    /// Kinds for which nothing of their own holds any more.
    public var kindsAsAll: [String]?
    /// A file that arrived or was opened within this many days is not given up to make room.
    public var keptDayCount: UInt64?

    /// A request with these parameters.
    public init(
        roomByteCount: UInt64? = nil, fetchByteCountMax: UInt64? = nil,
        fetchByteCountMaxByKind: [String: UInt64]? = nil, kindsAsAll: [String]? = nil,
        keptDayCount: UInt64? = nil
    ) {
        self.roomByteCount = roomByteCount
        self.fetchByteCountMax = fetchByteCountMax
        self.fetchByteCountMaxByKind = fetchByteCountMaxByKind
        self.kindsAsAll = kindsAsAll
        self.keptDayCount = keptDayCount
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> FileRoomView {
        let most = FileSettings.most
        guard roomByteCount ?? 0 <= most.roomByteCount,
            fetchByteCountMax ?? 0 <= most.fetchByteCountMax,
            keptDayCount ?? 0 <= most.keptDayCount,
            fetchByteCountMaxByKind?.values.max() ?? 0 <= most.fetchByteCountMax
        else { throw NodeError("bad-room", "That is more than can be set.") }
        var settings = try await node.read { try FileSettings.kept(in: $0.store) }
        settings.roomByteCount = roomByteCount ?? settings.roomByteCount
        settings.fetchByteCountMax = fetchByteCountMax ?? settings.fetchByteCountMax
        settings.keptDayCount = keptDayCount ?? settings.keptDayCount
        for word in kindsAsAll ?? [] {
            settings.fetchByteCountMaxByKind[try FileSettings.Kind(word: word)] = nil
        }
        for (word, limit) in fetchByteCountMaxByKind ?? [:] {
            settings.fetchByteCountMaxByKind[try FileSettings.Kind(word: word)] = limit
        }
        _ = try await node.running.perform(.file(.set(settings)))
        return try await node.perform(GetFileRoom())
    }
}

extension FileSettings.Kind {
    /// How people and programs name it.
    var word: String {
        switch self {
        case .picture: "picture"
        case .video: "video"
        case .sound: "sound"
        case .other: "other"
        }
    }

    /// The kind of this word.
    init(word: String) throws {
        guard let kind = Self.allCases.first(where: { $0.word == word }) else {
            throw NodeError(
                "bad-kind", "“\(word)” is not a kind of file.",
                hint: "Kinds are \(Self.allCases.map(\.word).joined(separator: ", ")).")
        }
        self = kind
    }
}

/// Frees the space of a message's files on this device, or those of a whole conversation. The
/// messages stay, and the files can be fetched again from other holders.
public struct ForgetFiles: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "forgetFiles", RequestScope.admin,
        "Frees the space that files take on this device; their messages stay."
    )
    /// An example of the request.
    public static let example = ForgetFiles(message: 12)

    /// The message; nil where a conversation is named.
    public var message: MessageReference?
    /// The conversation; nil where a message is named.
    public var conversation: String?
    /// Whether to free also files that no connected device says it holds. Without it those of a
    /// conversation are skipped, and so are those of a message; if that leaves nothing to free, it is
    /// refused.
    public var anyway: Bool?

    /// How long to wait for holders, and how often to check: a device that told somebody that it
    /// holds a file keeps it for 15 seconds.
    private static let (patience, pause) = (Duration.seconds(20), Duration.milliseconds(200))

    /// A request with these parameters.
    public init(
        message: MessageReference? = nil, conversation: String? = nil, anyway: Bool? = nil
    ) {
        self.message = message
        self.conversation = conversation
        self.anyway = anyway
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> FreedFiles {
        let numbers: [OperationNumber]
        switch (message, conversation) {
        case (let message?, nil): numbers = [try await node.read { try $0.message(message) }]
        case (nil, let conversation?):
            let all = anyway == true
            numbers = try await node.read {
                try $0.messagesWithFiles(in: conversation, onlyHere: all)
            }
        default:
            throw NodeError("which-files", "Name a message, or a conversation.")
        }
        let before = try await node.read { try $0.takenByteCount() }
        let (count, awaited, onlyHere) = try await free(filesOf: numbers, on: node)
        let after = try await node.read { try $0.takenByteCount() }
        var stayed: [String]?
        if message != nil, let number = numbers.first, onlyHere + awaited > 0 {
            let names = try await node.read { try $0.namesOfFilesHere(in: number) }
            // What was freed was freed: that is no refusal.
            if count == 0, onlyHere > 0 { throw NodeError(onlyHere: names) }
            if count == 0 { throw NodeError(awaiting: names) }
            stayed = names
        }
        return FreedFiles(
            count: count, byteCount: before - min(after, before),
            onlyHereCount: onlyHere + awaited, stayed: stayed)
    }

    /// Frees what may be freed, and waits a moment for holders of the rest.
    private func free(
        filesOf numbers: [OperationNumber], on node: Node
    ) async throws -> (count: Int, awaited: Int, onlyHere: Int) {
        let deadline = ContinuousClock.now + Self.patience
        var (count, awaitedInVain, onlyHere) = (0, 0, 0)
        // Not too much in one step: other requests wait for one.
        for start in stride(from: 0, to: numbers.count, by: 50) {
            let part = Array(numbers[start..<min(start + 50, numbers.count)])
            while true {
                let reply = try await node.performFreeing(
                    .file(.forget(part, anyway: anyway ?? false)))
                guard case .freed(let more, let awaited, let kept) = reply else { break }
                count += more
                guard awaited > 0, ContinuousClock.now < deadline else {
                    awaitedInVain += awaited
                    onlyHere += kept
                    break
                }
                try await Task.sleep(for: Self.pause)
            }
        }
        return (count, awaitedInVain, onlyHere)
    }
}

extension Views {
    /// The names of files of a message that are here and take room of their own.
    fileprivate func namesOfFilesHere(in number: OperationNumber) throws -> [String] {
        try (message(number)?.files ?? []).filter { $0.blob != nil && $0.state == "here" }
            .map(\.name)
    }
}
