import ArgumentParser
import Foundation
import Parley

struct FilesPlay: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "play",
        abstract: "play a voice note, or another recording",
        discussion: """
            ffmpeg decodes it in a sandbox, and pacat, pw-cat or aplay plays the result: no \
            program outside the sandbox reads what others sent.

            Example:
              parley files play 12
            """)

    /// Programs that play samples, with the options for their format.
    private static let players: [(name: String, words: [String])] = [
        ("pacat", ["--playback", "--raw", "--channels=1", "--format=s16le"] + rate("--rate=")),
        (
            "pw-cat",
            ["--playback", "--raw", "--channels=1", "--format=s16"] + rate("--rate=") + ["-"]
        ),
        ("aplay", ["-q", "-t", "raw", "-f", "S16_LE", "-c", "1"] + rate("--rate=")),
    ]

    private static func rate(_ option: String) -> [String] { [option + "\(SoundDecoder.rate)"] }

    @OptionGroup var place: HomeOptions
    @Argument(help: "the message: its number, or its identifier")
    var message: MessageArgument
    @Option(name: .long, help: "which of its files, from 1")
    var number: Int?

    func validate() throws {
        if let number, number < 1 { throw ValidationError("--number counts from 1.") }
    }

    func run(with node: any NodeService) async throws {
        let found = Self.players.lazy.compactMap { player in
            SoundProgram.path(player.name).map { (path: $0, words: player.words) }
        }.first
        guard let found else {
            throw NodeError(
                "no-player", "No program that plays sound is installed.",
                hint:
                    "`apt install alsa-utils` installs aplay; or save the file: "
                    + "`parley files save`.")
        }
        let files = try await node.perform(ListMessageFiles(message: message.reference))
        let bytes = try await read(from: node)
        let file =
            number.flatMap { files.indices.contains($0 - 1) ? files[$0 - 1] : nil } ?? files.first
        // A program that ended is told by its status, and not by a signal to this one.
        signal(SIGPIPE, SIG_IGN)
        let player = try SoundProgram(found.path, found.words)
        let length = Duration.milliseconds(file?.duration ?? 0) + .seconds(3_600)
        try SoundDecoder.decode(bytes, duration: length) { player.write($0) }
        player.closeInput()
        await player.ended()
        guard player.status == 0 else {
            let name = (found.path as NSString).lastPathComponent
            throw NodeError(
                "no-output", "\(name) could not play it" + player.lastWords,
                hint: "Save the file to play it elsewhere: `parley files save`.")
        }
    }

    private func read(from node: any NodeService) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            let part = try await node.perform(
                ReadFile(
                    message: message.reference, number: number, offset: bytes.count,
                    count: FileBytes.countMax))
            guard part.size <= SoundDecoder.byteCountMax else {
                throw NodeError(
                    "too-large", "That is too large to be played here.",
                    hint: "Save the file to play it elsewhere: `parley files save`.")
            }
            let more = Data(base64Encoded: part.base64) ?? Data()
            bytes += more
            if more.isEmpty || bytes.count >= part.size { return bytes }
        }
    }
}
