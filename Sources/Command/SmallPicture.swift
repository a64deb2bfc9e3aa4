import Foundation
import Parley

/// Makes pictures small with the programs of this machine: nothing of Parley reads foreign pictures.
///
/// Each runs as a child without network where the system lets it, for a short time, with bounds on its memory
/// and on what it writes.
enum SmallPicture {
    /// A picture of a profile has at most so many bytes.
    static let byteCountMax = 32 * 1024
    /// Of so many points a side, the first that is small enough is taken.
    private static let sides = [320, 192, 96]
    /// No larger file is handed to a program.
    private static let sourceByteCountMax = 64 << 20

    /// A small picture of a file, without what its camera wrote into it.
    ///
    /// - Throws: ``NodeError`` where it cannot be read, or nothing here makes it small.
    static func bytes(ofFile file: String) throws -> [UInt8] {
        let path = absolutePath(file)
        // What is no file is told as what cannot be read.
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        guard let size = attributes?[.size] as? Int,
            attributes?[.type] as? FileAttributeType == .typeRegular
        else { throw NodeError("unreadable", "\(path) is no file that can be read.") }
        guard size <= sourceByteCountMax else {
            throw NodeError(
                "too-large", "\(path) has \(FileLines.size(UInt64(size))).",
                hint: "A picture of at most \(sourceByteCountMax >> 20) MiB is made small.")
        }
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "parley-picture-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700])
        // What is left behind of a temporary folder harms nobody.
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var wasTried = false
        for side in sides {
            for way in ways(path, side, folder + "/small.jpg") where isInstalled(way[0]) {
                wasTried = true
                unlink(folder + "/small.jpg")
                guard run(way),
                    let made = FileManager.default.contents(atPath: folder + "/small.jpg"),
                    !made.isEmpty
                else { continue }
                if made.count <= byteCountMax { return Array(made) }
                break
            }
        }
        throw NodeError(
            "no-picture",
            wasTried
                ? "\(path) cannot be made a small picture."
                : "Nothing that is installed here makes pictures small.",
            hint: wasTried
                ? "Is it a picture?" : "apt install libvips-tools, or ffmpeg, or imagemagick")
    }

    /// Programs that make a picture small, the most careful first.
    private static func ways(_ path: String, _ side: Int, _ target: String) -> [[String]] {
        [
            [
                "vipsthumbnail", path, "--size", "\(side)x\(side)>", "-o",
                target + "[Q=75,strip]",
            ],
            [
                "ffmpeg", "-nostdin", "-loglevel", "error", "-y", "-i", "file:" + path,
                "-frames:v", "1", "-map_metadata", "-1", "-vf",
                "scale='min(\(side),iw)':'min(\(side),ih)':force_original_aspect_ratio=decrease",
                "-q:v", "6", "file:" + target,
            ],
            [
                "convert", path + "[0]", "-auto-orient", "-strip", "-resize",
                "\(side)x\(side)>", "-quality", "75", "jpg:" + target,
            ],
        ]
    }

    private static let path = "/usr/local/bin:/usr/bin:/bin"

    private static func isInstalled(_ program: String) -> Bool {
        path.split(separator: ":").contains { access("\($0)/\(program)", X_OK) == 0 }
    }

    /// Runs a program within its bounds. Returns whether it did what it was to do.
    private static func run(_ words: [String]) -> Bool {
        let bounds = ["timeout", "-k", "1", "20", "prlimit", "--as=2000000000", "--fsize=8000000"]
        let alone = ["unshare", "--user", "--map-root-user", "--net"]
        // Some systems let nobody make a network of their own: then it runs without that bound.
        for words in [bounds + alone + words, bounds + words] {
            let process = Process()
            process.executableURL = URL(filePath: "/usr/bin/env")
            process.arguments = ["-i", "PATH=" + path] + words
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            do { try process.run() } catch { return false }
            process.waitUntilExit()
            if process.terminationStatus == 0 { return true }
        }
        return false
    }
}
