import Foundation
import ParleyFiles
import ParleyWire

/// Reads sound, and makes voice notes, by programs of this machine.
struct SoundPrograms: Sendable {
    /// A voice note: Opus in Ogg.
    struct Voice {
        var file: any DescribedFile
        /// In milliseconds.
        var duration: UInt32
        /// How loud it is in equal parts of its time.
        var waveform: [UInt8]
    }

    /// How long a voice note may be, in milliseconds.
    static let voiceDurationMax: UInt32 = 3_600_000
    /// Parts of a waveform.
    static let barCount = 64
    private static let voiceByteCountMax = 64 << 20
    /// Samples a second of the examined sound, and of one step of it.
    private static let (rate, stepRate) = (8_000, 100)

    /// Where programs are looked for.
    var folders = CagedProgram.folders

    /// ffmpeg's name for the format of this type; nil if ffmpeg is not given it.
    static func format(of type: String) -> String? {
        switch type {
        case "video/mp4", "video/quicktime", "audio/mp4": "mov"
        case "video/webm": "matroska"
        case "audio/mpeg": "mp3"
        case "audio/wav": "wav"
        case "audio/flac": "flac"
        case "audio/ogg", "application/ogg": "ogg"
        case "image/jpeg": "jpeg_pipe"
        case "image/png": "png_pipe"
        case "image/webp": "webp_pipe"
        case "image/gif": "gif"
        default: nil
        }
    }

    /// How long something sounds or moves, in milliseconds, and how large it is seen; nil where no program
    /// can tell.
    func measures(of file: any DescribedFile, _ type: String) -> MediaMeasures? {
        guard let ffprobe = CagedProgram("ffprobe", in: folders), let format = Self.format(of: type)
        else { return nil }
        let words = [
            "-v", "error", "-f", format, "-show_entries", "format=duration:stream=width,height",
            "-of", "default=noprint_wrappers=1", CagedProgram.input,
        ]
        // Without it the file goes all the same.
        guard let made = try? ffprobe.output(words, input: file.descriptor) else { return nil }
        return MediaMeasures(String(decoding: made.prefix(4_096), as: UTF8.self))
    }

    /// A voice note of a recording.
    ///
    /// - Throws: ``NodeError`` if it is none, or no program can make one from it.
    func voice(of file: any DescribedFile, _ type: String) throws -> Voice {
        guard let format = Self.format(of: type), !type.hasPrefix("image/") else {
            throw NodeError(
                "no-sound", "Parley does not know that kind of recording.",
                hint: "Parley knows Opus, WAV, FLAC, MP3 and MP4.")
        }
        guard let ffmpeg = CagedProgram("ffmpeg", in: folders) else {
            guard type == "audio/ogg" else { throw NodeError.noSoundProgram }
            // It already has the format of a voice note.
            return try checked(Voice(file: file, duration: Self.duration(file), waveform: []))
        }
        let codec =
            type == "audio/ogg"
            ? ["-c:a", "copy"]
            : [
                "-ac", "1", "-ar", "48000", "-c:a", "libopus", "-b:a", "32k", "-application",
                "voip",
            ]
        let words =
            ["-v", "error", "-nostdin", "-threads", "1", "-f", format, "-i", CagedProgram.input]
            + ["-map", "0:a:0", "-map_metadata", "-1", "-vn", "-threads", "1"] + codec
            + ["-fflags", "+bitexact", "-flags:a", "+bitexact", "-f", "ogg", "pipe:1"]
        var bounds = CagedProgram.Bounds()
        (bounds.processorSeconds, bounds.time) = (120, .seconds(180))
        bounds.outputByteCount = Self.voiceByteCountMax
        let made: [UInt8]
        do {
            made = try ffmpeg.output(words, input: file.descriptor, bounds: bounds)
        } catch { throw NodeError.noVoice(error) }
        let note = try MemoryFile(made)
        let voice = try checked(Voice(file: note, duration: Self.duration(note), waveform: []))
        let waveform = waveform(of: note, duration: voice.duration, ffmpeg)
        return Voice(file: note, duration: voice.duration, waveform: waveform)
    }

    private static func duration(_ file: any DescribedFile) throws -> UInt32 {
        do {
            return try MediaForm.read(file, as: .ogg).duration
        } catch is FormFailure {
            throw NodeError.noVoice(nil)
        }
    }

    private func checked(_ voice: Voice) throws -> Voice {
        guard voice.duration <= Self.voiceDurationMax else {
            throw NodeError(
                "too-long", "A voice note is at most an hour long.",
                hint: "--file sends it as a file.")
        }
        return voice
    }

    // MARK: Waveforms

    private func waveform(
        of note: MemoryFile, duration: UInt32, _ ffmpeg: CagedProgram
    ) -> [UInt8] {
        let words =
            ["-v", "error", "-nostdin", "-threads", "1", "-f", "ogg", "-i", CagedProgram.input]
            + ["-map", "0:a:0", "-ac", "1", "-ar", "\(Self.rate)", "-f", "s16le", "pipe:1"]
        var bounds = CagedProgram.Bounds()
        (bounds.processorSeconds, bounds.time) = (60, .seconds(90))
        bounds.outputByteCount = Int(Self.voiceDurationMax / 1_000 + 1) * Self.rate * 2
        var loudness = Loudness(stepSampleCount: Self.rate / Self.stepRate)
        // A note without a waveform is one all the same.
        guard
            // The reason does not matter to the person.
            (try? ffmpeg.run(
                words, input: note.descriptor, bounds: bounds, take: { loudness.add($0) }))
                != nil
        else { return [] }
        return loudness.bars(Self.barCount)
    }
}

/// How loud sound is, from its samples: 16 bits each, the lowest first.
struct Loudness {
    /// Below this part of the full scale nothing is heard.
    private static let silence = 0.003
    private let stepSampleCount: Int
    private var steps: [Double] = []
    private var sum = 0.0
    private var count = 0
    private var half: UInt8?

    /// - Parameter stepSampleCount: samples whose loudness is one number.
    init(stepSampleCount: Int) { self.stepSampleCount = stepSampleCount }

    /// Adds some of it; a sample may be cut in two.
    mutating func add(_ bytes: ArraySlice<UInt8>) {
        for byte in bytes {
            guard let low = half else {
                half = byte
                continue
            }
            half = nil
            let sample = Double(Int16(bitPattern: UInt16(byte) << 8 | UInt16(low))) / 32_768
            sum += sample * sample
            count += 1
            if count == stepSampleCount { endStep() }
        }
    }

    private mutating func endStep() {
        steps.append((sum / Double(max(count, 1))).squareRoot())
        (sum, count) = (0, 0)
    }

    /// The loudest of each part, where 255 is the loudest of all; nothing where nothing was heard.
    func bars(_ barCount: Int) -> [UInt8] {
        guard let most = steps.max(), most > Self.silence else { return [] }
        let count = min(barCount, steps.count)
        return (0..<count).map { bar in
            let part = steps[bar * steps.count / count..<(bar + 1) * steps.count / count]
            return UInt8((part.max() ?? 0) / most * 255)
        }
    }
}

/// A program's output about a file: lines with a name, an equals sign and a number.
struct MediaMeasures: Equatable {
    private(set) var width: UInt32 = 0
    private(set) var height: UInt32 = 0
    /// In milliseconds.
    private(set) var duration: UInt32 = 0

    init(_ text: String) {
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: "=", maxSplits: 1)
            guard parts.count == 2 else { continue }
            switch parts[0] {
            case "width": width = max(width, UInt32(parts[1]) ?? 0)
            case "height": height = max(height, UInt32(parts[1]) ?? 0)
            case "duration":
                if let seconds = Double(parts[1]), seconds > 0, seconds < 4_000_000 {
                    duration = UInt32(seconds * 1_000)
                }
            default: break
            }
        }
    }
}

extension NodeError {
    static let noSoundProgram = NodeError(
        "no-ffmpeg", "Without ffmpeg, no voice note can be made.",
        hint: "Install it (`apt install ffmpeg`), or send a recording as Opus in Ogg.")

    static func noVoice(_ failure: CageFailure?) -> NodeError {
        let why =
            switch failure {
            case .tooSlow: ": it took too long"
            case .tooMuch: ": it came out too large"
            default: ""
            }
        return NodeError(
            "no-sound", "No voice note could be made of that\(why).",
            hint: "--file sends it as a file.")
    }
}
