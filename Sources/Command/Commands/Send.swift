import ArgumentParser
import Foundation
import Parley
import ParleySealing
import ParleyWire

struct Send: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send",
        abstract: "send a message",
        discussion: """
            Without a text, standard input is the message; with --lines, each of its lines is one. \
            When the command returns, everything is saved, and it is sent as soon as somebody can \
            be reached. If --lines stops half-way, or is ended, the same command continues where \
            it stopped, and says nothing twice.

            --stranded resends messages from the file that `parley outbox --stranded --json` \
            wrote: messages that another of your devices can no longer deliver, or that were \
            refused because you had been removed. Mentions and “forwarded from” are kept. Each \
            message is sent once, unless two of your devices resend it without having synced.

            “@” and a member's name, or the start of their identifier, mentions them, and \
            “@everyone” mentions everybody: `parley mentions` shows it to them. --lines mentions \
            nobody.

            Example:
              parley send home "dinner at eight, @ben?"
              git log --format=%s -3 | parley send team --lines
              parley send trip --thread 12 "and the stove?"
              parley send trip "the hut" --file hut.jpg --file map.pdf
              parley send trip --voice note.wav
              parley send team --stranded said.json
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "the conversation, or the person")
    var conversation: String
    @Argument(help: "the text; without it, standard input")
    var text: String?
    @Flag(name: .long, help: "each line of standard input is a message")
    var lines = false
    @OptionGroup var mentions: MentionOptions
    @Flag(name: .long, help: "send very many lines again, although all of them were sent before")
    var again = false
    @Option(
        name: .long,
        help: ArgumentHelp("reply in the thread that this message is in", valueName: "message"))
    var thread: MessageArgument?
    @Option(
        name: .customLong("file"),
        help: ArgumentHelp("a file to send with it; may be given several times", valueName: "file")
    )
    var files: [String] = []
    @OptionGroup var media: FileOptions
    @Option(
        name: .long, help: "send again what a device of yours could not send, from this file")
    var stranded: String?

    func validate() throws {
        try Check.name(conversation, "a conversation's name")
        if let text { try Check.text(text) }
        for file in files { try Check.file(file) }
        try media.check(hasFiles: !files.isEmpty)
        if !files.isEmpty || media.voice != nil, lines || stranded != nil {
            throw ValidationError("--file goes with one message.")
        }
        if lines, thread != nil { throw ValidationError("--thread is for one message.") }
        if text != nil, lines { throw ValidationError("--lines is for standard input.") }
        if let stranded {
            try Check.file(stranded)
            if text != nil || lines || thread != nil {
                throw ValidationError("--stranded sends what is in its file, and nothing else.")
            }
        }
    }

    func run() async throws {
        if let stranded {
            return try await World.current.lend(place) {
                try await sendStranded(stranded, with: $0.node)
            }
        }
        if !files.isEmpty || media.voice != nil {
            let sent = try await World.current.lendOnce(place) { try await sendFiles($0, once: $1) }
            return try Output.show(sent, json: output.json, as: MessageLines.text(sent))
        }
        // Read before anything is opened: problems with it are reported first.
        let texts = try Composition.texts(argument: text, areLines: lines)
        let batches = Composition.batches(texts)
        if batches.count > 1 {
            return try await World.current.lend(place) {
                try await send(
                    batches, count: texts.count,
                    named: batches.joined().joined(separator: "\u{0}"), with: $0.node)
            }
        }
        if lines { return try await sendFew(texts) }
        let sent = try await World.current.lendOnce(place) { node, once in
            let link = try await LinkStaging.stage(
                texts[0], isWanted: media.linkPreview, on: node)
            return try await node.perform(
                SendMessages(
                    conversation: conversation, texts: texts, thread: thread?.reference,
                    withoutMentions: mentions.without, link: link, once: once))
        }
        try Output.show(sent, json: output.json, as: MessageLines.text(sent))
    }
}

extension Send {
    /// Sends the files, with the text where there is one.
    private func sendFiles(
        _ node: any NodeService, once: String
    ) async throws -> [MessageView] {
        // Before files are sealed for nobody: those would lie there until the node starts again.
        _ = try await node.perform(GetConversation(conversation: conversation))
        let tickets = try await FileStaging.stage(
            media.requests(files, with: text ?? ""), on: node, json: output.json)
        let link = try await LinkStaging.stage(
            text ?? "", isWanted: media.linkPreview, on: node)
        return try await node.perform(
            SendMessages(
                conversation: conversation, texts: [text ?? ""], thread: thread?.reference,
                withoutMentions: mentions.without, files: tickets, link: link, once: once))
    }

    /// The `--json` output for very many lines.
    struct Sent: Encodable {
        /// Messages saved now.
        var saved: Int
        /// Messages that were saved before.
        var known: Int
    }

    /// Sends more than the node saves at once: each batch records how far it got, so that the same
    /// lines, sent again after an interruption, continue there.
    ///
    /// - Parameters:
    ///   - content: what makes them the same lines.
    ///   - originals: for each of them the identifier of what it says again; nil if they do not.
    ///   - marks: for each of them what it carries beside its words; nil if none carries anything.
    func send(
        _ batches: [[String]], count: Int, named content: String, originals: [String]? = nil,
        marks: [TextMarks]? = nil, with node: any NodeService
    ) async throws {
        let (key, known) = try await whole(content, count, on: node)
        if known > 0 {
            World.current.say("\(known) of \(count) messages were saved before; continuing")
        }
        var (saved, line) = (0, 1)
        let wish = StopWish(lastWords: Self.lastWords)
        defer { wish.cancel() }
        for batch in batches {
            if wish.isThere {
                throw Self.ended(after: known + saved, of: count)
            }
            if line + batch.count - 1 > known {
                do {
                    saved += try await node.perform(
                        SendLines(
                            conversation: conversation, texts: batch, key: key, firstLine: line,
                            originals: originals.map {
                                Array($0.dropFirst(line - 1).prefix(batch.count))
                            },
                            marks: marks.map {
                                Array($0.dropFirst(line - 1).prefix(batch.count))
                            })
                    ).stored
                } catch let error as NodeError {
                    throw Self.stopped(
                        error, after: known + saved, of: count, on: batch.count)
                }
            }
            line += batch.count
        }
        try Output.show(
            Sent(saved: saved, known: known), json: output.json,
            as: "saved \(counted(saved, "message"))")
    }

    /// Not all of them were sent. A node that stopped during a request may have saved it.
    private static func stopped(
        _ error: NodeError, after saved: Int, of count: Int, on asked: Int
    ) -> NodeError {
        if error.isLoss {
            let last = min(count, saved + asked)
            return NodeError(
                error.code,
                "\(saved) of \(count) messages are saved, and perhaps those up to \(last): "
                    + error.message,
                hint:
                    "Run the same command again once that is fixed: it continues with the "
                    + "first that is not.")
        }
        let isSoon = error.code == "not-a-member-yet"
        let again = "Run the same command again once that is fixed: "
        return NodeError(
            error.code,
            "\(saved) of \(count) messages are saved, the others are not: " + error.message,
            hint: (isSoon ? "Wait a moment, and run the same command again: " : again)
                + "it continues with message \(saved + 1).")
    }

    /// The name of these lines in the conversation, and how many of them are saved under it. Those that
    /// were all sent have another name when they are sent again.
    private func whole(
        _ content: String, _ count: Int, on node: any NodeService
    ) async throws -> (key: String, known: Int) {
        var round = 0
        while true {
            let key: Digest = digest(.file, Array("parley send \(round)\u{0}\(content)".utf8))
            let known = try await node.perform(
                CountImportedLines(conversation: conversation, fileHash: key.description))
            if known < count, known > 0 || round == 0 || again { return (key.description, known) }
            guard known >= count else {
                throw Self.sentBefore(count)
            }
            round += 1
        }
    }

    /// All of so many messages were sent, from this device or, again, from another of the person.
    static func sentBefore(_ count: Int) -> NodeError {
        NodeError(
            "sent-before",
            count == 1
                ? "This message was sent before." : "These \(count) messages were all sent before.",
            hint: "Add --again to send once more.")
    }
}

struct Reply: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reply",
        abstract: "reply to a message",
        discussion: """
            Without a text, standard input is the reply.

            Example:
              parley reply home 12 "yes, at eight"
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var mentions: MentionOptions
    @Argument(help: "the conversation, or the person")
    var conversation: String
    @Argument(help: "the message: its number, or its identifier")
    var message: MessageArgument
    @Argument(help: "the text; without it, standard input")
    var text: String?

    func validate() throws {
        try Check.name(conversation, "a conversation's name")
        if let text { try Check.text(text) }
    }

    func run() async throws {
        let texts = try Composition.texts(argument: text, areLines: false)
        let sent = try await World.current.lendOnce(place) { node, once in
            try await node.perform(
                SendMessages(
                    conversation: conversation, texts: texts, replyTo: message.reference,
                    withoutMentions: mentions.without, once: once))
        }
        try Output.show(sent, json: output.json, as: MessageLines.text(sent))
    }
}

/// The content that a person gives to send.
enum Composition {
    /// As much as one command sends.
    static let inputByteCountMax = 64 << 20
    /// Messages handed to the node at once, and their bytes: escaped at worst as six letters a
    /// byte, they still fit one line of the local socket.
    static let batchCountMax = 256
    static let batchByteCountMax = 1 << 20

    static func texts(argument: String?, areLines: Bool) throws -> [String] {
        if let argument { return [argument] }
        if World.current.isInputTerminal {
            World.current.say("Write, then end with Ctrl-D on a line of its own")
        }
        let bytes = try World.current.readInput(inputByteCountMax)
        guard let input = String(validating: bytes, as: UTF8.self) else {
            throw NodeError(
                "not-text", "The input is not UTF-8 text.",
                hint: "`iconv` turns other encodings into UTF-8.")
        }
        let lines = input.split(omittingEmptySubsequences: false) { $0.isNewline }
        let texts = areLines ? lines.map(String.init) : [trimmed(input)]
        let written = texts.filter { !VisibleName.drawsNothing($0) }
        guard !written.isEmpty else { throw NodeError("empty", "There is nothing to send.") }
        for (index, text) in texts.enumerated()
        where text.utf8.count > Limits.messageByteCountMax {
            let place = areLines ? "Line \(index + 1)" : "The input"
            throw NodeError(
                "too-long", "\(place) has \(text.utf8.count) bytes.",
                hint: "A message has at most \(Limits.messageByteCountMax) bytes. Nothing was sent."
            )
        }
        return written
    }

    /// In pieces that the node takes at once, in order.
    static func batches(_ texts: [String]) -> [[String]] {
        var batches: [[String]] = []
        var byteCount = 0
        for text in texts {
            byteCount += text.utf8.count
            let isFull = batches.last.map { $0.count == batchCountMax } ?? true
            if isFull || byteCount > batchByteCountMax {
                batches.append([])
                byteCount = text.utf8.count
            }
            batches[batches.count - 1].append(text)
        }
        return batches
    }

    /// Without the end of the last line, which `echo` adds.
    private static func trimmed(_ text: String) -> String {
        text.last?.isNewline == true ? String(text.dropLast()) : text
    }
}
