import ArgumentParser
import Parley
import ParleyWire

struct FilesForget: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget",
        abstract: "free the space that files take on this device; their messages stay",
        discussion: """
            `parley files get` fetches them again from whoever has them. A file is removed only if \
            somebody who is reached now says that they have it; others are skipped and named, and \
            if a message has no file but those, the command refuses. --anyway removes them \
            regardless, and they may never come back. The command waits up to 20 seconds for an \
            answer. To delete a file for everybody, delete its message.

            Example:
              parley files forget 12
              parley files forget --conversation trip
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "the message: its number, or its identifier")
    var message: MessageArgument?
    @Option(name: .long, help: "all files of this conversation, or of that with this person")
    var conversation: String?
    @Flag(name: .long, help: "also those that nobody who is reached has, as far as is known")
    var anyway = false

    func validate() throws {
        if let conversation { try Check.name(conversation, "a conversation's name") }
        guard (message == nil) != (conversation == nil) else {
            throw ValidationError("Name a message, or --conversation.")
        }
    }

    func run(with node: any NodeService) async throws {
        let freed = try await node.perform(
            ForgetFiles(
                message: message?.reference, conversation: conversation,
                anyway: anyway ? true : nil))
        var words =
            freed.count == 0
            ? "nothing to free"
            : "freed \(counted(freed.count, "file")), \(FileLines.size(freed.byteCount))"
        if freed.onlyHereCount > 0 {
            let them = freed.onlyHereCount == 1 ? "it" : "them"
            let names = freed.stayed.map { VisibleName.list($0.map { "“\(harmless($0))”" }) }
            words += "; \(names ?? counted(freed.onlyHereCount, "file")) stayed: "
            words += "nobody who is reached says that they have \(them)"
        }
        try Output.show(freed, json: output.json, as: words)
    }
}

struct FilesRoom: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "room",
        abstract:
            "set how much space files may take here, and which are fetched automatically",
        discussion: """
            If more arrives than files may take, those that were opened longest ago are removed: \
            their messages stay, and `parley files get` fetches them again. Files with a star, \
            files that arrived or were opened in the last days (--keep-days), and files that no \
            other device is known to have are never removed automatically. What is fetched \
            automatically can differ by kind, as the sender states it; a kind that is set to \
            as-all follows --by-itself again. Each device has its own settings.

            Example:
              parley files room
              parley files room --limit 50G --by-itself 5M
              parley files room --by-itself 0
              parley files room --pictures 5M --videos 0 --sound as-all
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Option(name: .long, help: "how much files may take here: bytes, or such as 500M, 50G")
    var limit: ByteCountArgument?
    @Option(name: .long, help: "files up to this size are fetched automatically; 0 for none")
    var byItself: ByteCountArgument?
    @OptionGroup var kinds: KindOptions
    @Option(name: .long, help: "how many days files stay after they arrived or were opened")
    var keepDays: UInt64?

    func run(with node: any NodeService) async throws {
        let isAsking = limit == nil && byItself == nil && keepDays == nil && kinds.said.isEmpty
        let room =
            isAsking
            ? try await node.perform(GetFileRoom())
            : try await node.perform(
                SetFileRoom(
                    roomByteCount: limit?.value, fetchByteCountMax: byItself?.value,
                    fetchByteCountMaxByKind: kinds.limits, kindsAsAll: kinds.asAll,
                    keptDayCount: keepDays))
        try Output.show(room, json: output.json, as: Self.text(room))
    }

    static func text(_ room: FileRoomView) -> String {
        var table = Table()
        let share =
            "\(FileLines.size(room.usedByteCount)) of \(FileLines.size(room.roomByteCount))"
        table.add("taken", "\(share), \(counted(room.fileCount, "file"))")
        if room.onlyHereCount > 0 {
            table.add(
                "only here",
                "\(counted(room.onlyHereCount, "file")), \(FileLines.size(room.onlyHereByteCount)): "
                    + "no other device is known to have them")
        }
        if room.diskFullCount > 0 {
            table.add(
                "disk full",
                "no space for \(counted(room.diskFullCount, "file")) beside what is kept "
                    + "free for messages")
        }
        table.add(
            "fetched",
            room.fetchByteCountMax == 0
                ? "none automatically"
                : "files up to \(FileLines.size(room.fetchByteCountMax)) automatically")
        for (kind, limit) in room.fetchByteCountMaxByKind.sorted(by: { $0.key < $1.key }) {
            table.add(
                "  " + kind,
                limit == 0
                    ? "none automatically" : "files up to \(FileLines.size(limit)) automatically")
        }
        table.add(
            "kept",
            "what arrived or was opened in the last \(counted(Int(room.keptDayCount), "day"))")
        return table.text
    }
}

/// Which kinds of file are fetched automatically.
struct KindOptions: ParsableArguments {
    @Option(name: .long, help: "the same for pictures: bytes, or as-all")
    var pictures: KindLimitArgument?
    @Option(name: .long, help: "for videos")
    var videos: KindLimitArgument?
    @Option(name: .long, help: "for sound")
    var sound: KindLimitArgument?
    @Option(name: .long, help: "for everything else")
    var others: KindLimitArgument?

    var said: [(kind: String, limit: UInt64?)] {
        let all = [
            ("picture", pictures), ("video", videos), ("sound", sound), ("other", others),
        ]
        return all.compactMap { kind, argument in argument.map { (kind, $0.value) } }
    }

    var limits: [String: UInt64]? {
        let limits = said.compactMap { kind, limit in limit.map { (kind, $0) } }
        return limits.isEmpty ? nil : Dictionary(uniqueKeysWithValues: limits)
    }

    var asAll: [String]? {
        let kinds = said.filter { $0.limit == nil }.map(\.kind)
        return kinds.isEmpty ? nil : kinds
    }
}

/// A number of bytes, or `as-all`.
struct KindLimitArgument: ExpressibleByArgument, Equatable {
    /// The number; nil for what holds for all kinds.
    var value: UInt64?

    init?(argument: String) {
        if argument == "as-all" { return }
        guard let count = ByteCountArgument(argument: argument) else { return nil }
        value = count.value
    }
}

/// A number of bytes, as `500M`.
struct ByteCountArgument: ExpressibleByArgument, Equatable {
    var value: UInt64

    /// A number, with `k`, `M`, `G` or `T` behind it where it is meant in thousands, and `Ki` and so on in
    /// 1,024s.
    init?(argument: String) {
        let digits = argument.prefix { $0.isASCII && $0.isNumber }
        guard let number = UInt64(digits) else { return nil }
        var unit = argument[digits.endIndex...].lowercased()
        if unit.hasSuffix("b") { unit.removeLast() }
        let base: UInt64 = unit.hasSuffix("i") ? 1024 : 1000
        if unit.hasSuffix("i") { unit.removeLast() }
        guard let power = ["", "k", "m", "g", "t"].firstIndex(of: unit), power > 0 || base == 1000
        else { return nil }
        var value = number
        for _ in 0..<power {
            let (product, overflows) = value.multipliedReportingOverflow(by: base)
            guard !overflows else { return nil }
            value = product
        }
        self.value = value
    }
}
