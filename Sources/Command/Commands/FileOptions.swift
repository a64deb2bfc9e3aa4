import ArgumentParser
import Parley
import ParleyWire

/// How files of a message are sent.
struct FileOptions: ParsableArguments {
    /// The parts of a message beside its text and its files.
    private static let restByteCount = 2 * 1024

    @Option(
        name: .long,
        help: ArgumentHelp("a recording to send as a voice note", valueName: "file"),
        completion: .file())
    var voice: String?
    @Flag(
        name: .long,
        help: "keep the metadata of pictures and videos, such as place and camera")
    var keepMetadata = false

    @Flag(
        inversion: .prefixedNo,
        help: "fetch the page behind the first address in the text, and send a preview of it")
    var linkPreview: Bool?

    func check(hasFiles: Bool) throws {
        if let voice { try Check.file(voice) }
        if keepMetadata, !hasFiles { throw ValidationError("--keep-metadata needs --file.") }
    }

    /// The request to the node for these files, which go with this text.
    func requests(_ files: [String], with text: String) -> [StageFile] {
        let count = files.count + (voice == nil ? 0 : 1)
        let room = Limits.messagePayloadByteCountMax - Self.restByteCount - text.utf8.count
        let share = room / max(1, count)
        let arguments = RawArguments.current
        let voices = voice.map {
            let path = arguments.paths(of: [$0], behind: "--voice")[0]
            return [
                StageFile(path: absolutePath($0), rawPath: path, isVoice: true, room: share)
            ]
        }
        let staged = zip(files, arguments.paths(of: files, behind: "--file")).map { file, path in
            StageFile(
                path: absolutePath(file), rawPath: path,
                keepsMetadata: keepMetadata ? true : nil, room: share)
        }
        return (voices ?? []) + staged
    }
}
