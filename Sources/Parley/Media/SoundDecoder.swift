import ParleyFiles

/// Turns recordings of others into samples, in a cage, so that a program that plays them reads no foreign
/// form. For programs beside the node: they play where the person is.
package enum SoundDecoder {
    /// Samples a second, of 16 bits, in one channel.
    package static let rate = 48_000
    /// A recording that is held in memory.
    package static let byteCountMax = 256 << 20

    /// Decodes a recording. It blocks for its duration if the output is played as it comes.
    ///
    /// - Parameter take: given samples, the lowest byte first.
    /// - Throws: ``NodeError`` if it is none, or no program can decode it.
    package static func decode(
        _ bytes: [UInt8], duration: Duration, take: (ArraySlice<UInt8>) -> Void
    ) throws {
        let type = FileKind.type(of: bytes)
        guard let format = SoundPrograms.format(of: type), !type.hasPrefix("image/") else {
            throw NodeError("no-sound", "Parley does not know that kind of recording.")
        }
        guard let ffmpeg = CagedProgram("ffmpeg") else {
            throw NodeError(
                "no-ffmpeg", "Without ffmpeg, no recording can be played.",
                hint: "Install it (`apt install ffmpeg`), or save the file: `parley files save`.")
        }
        let words =
            ["-v", "error", "-nostdin", "-threads", "1", "-f", format, "-i", CagedProgram.input]
            + ["-map", "0:a:0", "-ac", "1", "-ar", "\(rate)", "-f", "s16le", "pipe:1"]
        var bounds = CagedProgram.Bounds()
        bounds.processorSeconds = 300
        bounds.time = duration + .seconds(60)
        bounds.outputByteCount = 8 << 30
        do {
            let file = try MemoryFile(bytes)
            try ffmpeg.run(words, input: file.descriptor, bounds: bounds, take: take)
        } catch CageFailure.tooSlow {
            throw NodeError("too-slow", "Decoding it took too long.")
        } catch {
            throw NodeError("no-sound", "That recording cannot be played.")
        }
    }
}
