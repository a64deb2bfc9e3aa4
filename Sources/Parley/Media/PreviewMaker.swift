import Foundation
import ParleyFiles
import ParleyWire

/// Makes small pictures of pictures and videos, by programs of this machine.
///
/// They are made twice: small first, and then small enough. The result is parsed once more as a
/// picture, and cleaned, before it is used.
struct PreviewMaker: Sendable {
    /// A small picture.
    struct Preview {
        var bytes: [UInt8]
        var width: UInt32
        var height: UInt32
    }

    /// Why there is none.
    enum Failure: Error, Equatable {
        /// None of these programs is installed.
        case noProgram(String)
        /// The program could not make one.
        case notMade
    }

    /// Its longest side, in points.
    static let sideMax = 320
    /// A picture that is larger is looked at by no program.
    static let pictureByteCountMax: UInt64 = 256 << 20
    /// Those of a preview.
    private static let previewTries = [
        (320, 60), (320, 40), (240, 40), (200, 30), (160, 25), (112, 25), (80, 20), (48, 20),
    ]

    /// Where programs are looked for.
    var folders = CagedProgram.folders
    /// Sides and qualities that are tried one after the other.
    var tries = PreviewMaker.previewTries

    /// A small picture of a picture or a video.
    ///
    /// - Parameters:
    ///   - file: an open file.
    ///   - type: its type, by its first bytes.
    ///   - duration: of a video, in milliseconds.
    ///   - byteCountMax: how large the preview may be.
    func preview(
        of file: any DescribedFile, _ type: String, duration: UInt32, atMost byteCountMax: Int
    ) throws -> Preview {
        let small = try MemoryFile(try small(file, type, duration))
        for (side, quality) in tries {
            let made = try encode(small, side, quality)
            // A file that is no picture is not the one looked for.
            guard let preview = try? Self.checked(made) else { continue }
            if preview.bytes.count <= byteCountMax { return preview }
        }
        throw Failure.notMade
    }

    // MARK: Steps

    private var vips: CagedProgram? { CagedProgram("vipsthumbnail", in: folders) }
    private var ffmpeg: CagedProgram? { CagedProgram("ffmpeg", in: folders) }

    /// A PNG of at most ``sideMax`` on a side.
    private func small(_ file: any DescribedFile, _ type: String, _ duration: UInt32) throws
        -> [UInt8]
    {
        if type.hasPrefix("image/") {
            guard file.byteCount <= Self.pictureByteCountMax else { throw Failure.notMade }
            if let vips {
                let words = [
                    CagedProgram.input, "-s", "\(Self.sideMax)x\(Self.sideMax)>", "-e", "srgb",
                    "-o",
                    ".png",
                ]
                // Another program may know what this one does not.
                let made = try? vips.output(words, input: file.descriptor)
                // What it was built without, another one may know.
                if let made, !made.isEmpty { return made }
            }
        }
        guard let ffmpeg else {
            guard type.hasPrefix("image/") else { throw Failure.noProgram("ffmpeg") }
            throw vips == nil ? Failure.noProgram("vipsthumbnail") : .notMade
        }
        guard let format = SoundPrograms.format(of: type) else { throw Failure.notMade }
        // The first picture of a video is often a black one.
        for start in duration > 3_000 ? ["1", "0"] : ["0"] {
            let words =
                ["-v", "error", "-nostdin", "-threads", "1", "-f", format, "-ss", start, "-i"]
                + [CagedProgram.input, "-map", "0:v:0", "-frames:v", "1", "-filter_threads", "1"]
                + ["-vf", Self.scale(Self.sideMax), "-threads", "1"]
                + ["-c:v", "png", "-f", "image2pipe", "pipe:1"]
            // Another place may have a picture; without one the file goes all the same.
            let made = try? ffmpeg.output(words, input: file.descriptor)
            if let made, !made.isEmpty { return made }
        }
        throw Failure.notMade
    }

    private func encode(_ small: MemoryFile, _ side: Int, _ quality: Int) throws -> [UInt8] {
        if let vips {
            let words = [
                CagedProgram.input, "-s", "\(side)x\(side)>", "-o",
                ".webp[Q=\(quality),strip=true]",
            ]
            return try vips.output(words, input: small.descriptor)
        }
        guard let ffmpeg else { throw Failure.noProgram("ffmpeg") }
        let words =
            ["-v", "error", "-nostdin", "-f", "png_pipe", "-i", CagedProgram.input]
            + ["-frames:v", "1", "-filter_threads", "1", "-vf", Self.scale(side), "-threads", "1"]
            + ["-c:v", "mjpeg", "-pix_fmt", "yuvj420p", "-q:v", "\((100 - quality) / 6)"]
            + ["-f", "image2pipe", "pipe:1"]
        return try ffmpeg.output(words, input: small.descriptor)
    }

    private static func scale(_ side: Int) -> String {
        "scale=w='min(\(side),iw)':h='min(\(side),ih)':force_original_aspect_ratio=decrease"
    }

    /// The output of a program, if it is such a picture: without anything else.
    static func checked(_ made: [UInt8]) throws -> Preview {
        let type = FileKind.type(of: made)
        guard ["image/webp", "image/jpeg"].contains(type),
            let container = FileKind.container(of: type)
        else { throw Failure.notMade }
        let file = try MemoryFile(made)
        let form = try MediaForm.read(file, as: container, keepsColours: false)
        guard (1...UInt32(sideMax)).contains(form.width),
            (1...UInt32(sideMax)).contains(form.height)
        else { throw Failure.notMade }
        var cleaned = EditedFile(file, form.edits)
        let bytes = try cleaned.next(Int(cleaned.byteCount))
        return Preview(bytes: bytes, width: form.width, height: form.height)
    }
}

/// An open file that a program can be given.
protocol DescribedFile: PlacedBytes {
    /// Its number in this process.
    var descriptor: Int32 { get }
}

extension FileSource: DescribedFile {}
extension MemoryFile: DescribedFile {}
