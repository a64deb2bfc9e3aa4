import ParleyConversation
import ParleyFiles
import ParleyWire

/// How a person wants a file to be sent.
struct FileWish: Sendable {
    /// Whether it is sent as it is, with all its metadata.
    var keepsMetadata = false
    /// Whether it was spoken for its message.
    var isVoice = false
    /// How much of its message it may take: several files share its room.
    var room = Limits.inlineFileByteCountMax + Limits.previewByteCountMax + nameByteCount

    /// What its name, its type and its measures take.
    private static let nameByteCount = 1_024

    /// How large its preview may be.
    var previewByteCount: Int {
        max(0, min(room - Self.nameByteCount, Limits.previewByteCountMax))
    }

    /// Whether a file of this size, with such a preview, travels inside its message.
    func isInline(_ byteCount: UInt64, preview: Int) -> Bool {
        let left = max(0, room - Self.nameByteCount - preview)
        return byteCount <= UInt64(min(left, Limits.inlineFileByteCountMax))
    }
}

/// An outgoing file: its content, and what its message says about it.
struct OutgoingFile: Sendable {
    /// A file of so few bytes is its own preview.
    private static let smallByteCountMax: UInt64 = 8 * 1024

    /// As it leaves.
    var content: EditedFile
    /// By how it begins; empty where that is not known.
    var type: String
    var look = Attachment.Look()
    /// Whether it travels inside its message; what holds nothing always does.
    var isInline: Bool {
        content.byteCount == 0 || wish.isInline(content.byteCount, preview: look.preview.count)
    }
    private let wish: FileWish
    /// Why something that could be expected is missing; nil if nothing is.
    var note: String?

    /// Examines a file, and removes its metadata. It blocks.
    ///
    /// - Parameter folders: where programs are looked for.
    /// - Throws: ``NodeError`` where it cannot be read, or not be cleaned.
    init(
        _ source: FileSource, called name: String, _ wish: FileWish,
        folders: [String] = CagedProgram.folders
    ) throws {
        self.wish = wish
        let start = try source.bytes(
            at: 0, count: Int(min(source.byteCount, UInt64(FileKind.startByteCount))))
        type = FileKind.type(of: start)
        if wish.isVoice {
            let voice = try SoundPrograms(folders: folders).voice(of: source, type)
            content = EditedFile(voice.file)
            type = "audio/ogg"
            (look.duration, look.waveform) = (voice.duration, voice.waveform)
            look.isVoice = true
            return
        }
        let form = try Self.form(of: source, type, called: name, wish)
        content = EditedFile(source, wish.keepsMetadata ? [] : form?.edits ?? [])
        (look.width, look.height) = (form?.width ?? 0, form?.height ?? 0)
        look.duration = form?.duration ?? 0
        if type.isEmpty, source.byteCount > 0, !wish.keepsMetadata {
            note =
                "“\(name)” goes as it is: Parley does not know its kind, and removes nothing of it."
        }
        measure(source, folders)
        if source.byteCount > Self.smallByteCountMax, wish.previewByteCount > 0 {
            makePreview(of: source, called: name, wish, folders)
        }
    }

    /// The form of a picture or a video; nil of what has none that counts.
    private static func form(
        of source: FileSource, _ type: String, called name: String, _ wish: FileWish
    ) throws -> MediaForm? {
        do {
            if let container = FileKind.container(of: type) {
                return try MediaForm.read(source, as: container)
            }
            guard mayTellPlaces(type, name) else { return nil }
            throw FormFailure.uncleanable
        } catch let failure as FormFailure {
            guard mayTellPlaces(type, name), !wish.keepsMetadata else { return nil }
            throw NodeError(
                "not-cleaned",
                failure == .broken
                    ? "“\(name)” begins like a picture or a video, but continues differently: "
                        + "its metadata, such as place and camera, cannot be removed."
                    : "“\(name)” (\(type.isEmpty ? "of an unknown kind" : type)) may hold metadata, "
                        + "such as place and camera, and "
                        + "Parley cannot remove it.",
                hint:
                    "--keep-metadata sends it as it is; most programs for pictures can save it as "
                    + "JPEG or PNG.")
        }
    }

    /// Its name decides nothing except this: of what is called a picture nobody expects a place in it.
    private static func mayTellPlaces(_ type: String, _ name: String) -> Bool {
        FileKind.mayTellPlaces(type) || type.isEmpty && FileKind.isCalledPicture(name)
    }

    /// Asks a program for what the form does not say.
    private mutating func measure(_ source: FileSource, _ folders: [String]) {
        let isVideo = type.hasPrefix("video/")
        let isMissing = look.duration == 0 || isVideo && look.width == 0
        guard isMissing, isVideo || type.hasPrefix("audio/") || type == "application/ogg",
            let found = SoundPrograms(folders: folders).measures(of: source, type)
        else { return }
        if look.duration == 0 { look.duration = found.duration }
        if look.width == 0 { (look.width, look.height) = (found.width, found.height) }
    }

    private mutating func makePreview(
        of source: FileSource, called name: String, _ wish: FileWish, _ folders: [String]
    ) {
        guard type.hasPrefix("image/") || type.hasPrefix("video/") else { return }
        do {
            let preview = try PreviewMaker(folders: folders).preview(
                of: source, type, duration: look.duration, atMost: wish.previewByteCount)
            look.preview = preview.bytes
            // How it is turned may stand where only those look who decode it.
            let isWide = preview.width > preview.height
            let isTurned = isWide ? look.width < look.height : look.width > look.height
            if isTurned, preview.width != preview.height { swap(&look.width, &look.height) }
        } catch PreviewMaker.Failure.noProgram(let program) {
            note = "Without \(program), pictures and videos are sent without a preview."
        } catch {
            note = "“\(name)” is sent without a preview: no program here can show it."
        }
    }
}
