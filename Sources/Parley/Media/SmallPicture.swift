import ParleyFiles
import ParleyWire

/// Small pictures of persons and groups, which travel inside what shows them.
///
/// They are made like previews: by a sandboxed program of this machine, and the output is parsed
/// once more as a picture, and cleaned. It blocks.
public enum SmallPicture {
    /// No larger file is handed to a program.
    static let sourceByteCountMax: UInt64 = 64 << 20
    /// Sides and qualities that are tried one after the other.
    private static let tries = [(320, 80), (320, 60), (240, 60), (192, 50), (96, 40)]

    /// A small picture of a file, without what its camera wrote into it.
    ///
    /// - Throws: ``NodeError`` where it cannot be read, or nothing here makes it small.
    public static func bytes(ofFile path: String) throws -> [UInt8] {
        try bytes(ofFile: path, folders: CagedProgram.folders)
    }

    /// The same.
    ///
    /// - Parameter folders: where programs are looked for.
    static func bytes(ofFile path: String, folders: [String]) throws -> [UInt8] {
        let source = try FileSource(path)
        guard source.byteCount <= sourceByteCountMax else {
            throw NodeError(
                "too-large", "\(path) is larger than \(sourceByteCountMax >> 20) MiB.",
                hint: "Use a smaller file.")
        }
        let start = try source.bytes(at: 0, count: Int(min(source.byteCount, 512)))
        let type = FileKind.type(of: start)
        guard type.hasPrefix("image/") else {
            throw NodeError("no-picture", "\(path) is not a picture.")
        }
        do {
            return try PreviewMaker(folders: folders, tries: tries).preview(
                of: source, type, duration: 0, atMost: Limits.inlineFileByteCountMax
            ).bytes
        } catch PreviewMaker.Failure.noProgram {
            throw NodeError(
                "no-program", "No program that makes pictures small is installed here.",
                hint: "Install libvips-tools, or ffmpeg, for example with `apt install`.")
        } catch {
            throw NodeError(
                "no-picture", "No small picture could be made of \(path).",
                hint:
                    "Is the file complete?")
        }
    }
}
