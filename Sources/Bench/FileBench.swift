import Foundation
import Parley

/// What large files and many small ones cost between two processes on the real disk, and how
/// messages are delayed meanwhile.
struct FileBench {
    static let names = [
        "files-seal", "files-transfer", "files-save", "files-memory", "files-resume",
        "files-again", "files-message-idle", "files-message", "files-many", "files-rsync",
    ]
    /// Bytes of the large file, where nothing else is asked for.
    static let usualByteCount = 1 << 30
    /// Files of the many, and bytes of each.
    static let (manyCount, manyByteCount) = (10_000, 100 << 10)

    let folder: String
    let program: String
    /// Bytes of the large file.
    let byteCount: Int
    let say: @Sendable (String) -> Void

    private var size: String { "\(byteCount >> 20) MiB" }

    func run(_ wanted: Set<String>) async throws -> [Figure] {
        let place = folder + "/files"
        try FileManager.default.createDirectory(
            atPath: place, withIntermediateDirectories: false)
        guard !wanted.isDisjoint(with: Self.names) else { return [] }
        let ceiling = try FileCeiling.measured()
        let world = try await BenchWorld(folder: place, program: program, say: say)
        var figures: [Figure] = []
        if !wanted.isDisjoint(with: Self.names.prefix(4)) {
            figures += try await alone(in: world, ceiling)
        }
        if wanted.contains("files-message-idle") || wanted.contains("files-message") {
            figures += try await messages(in: world)
        }
        if wanted.contains("files-resume") || wanted.contains("files-again") {
            figures += try await resumed(in: world)
        }
        if wanted.contains("files-many") { figures.append(try await many(in: world)) }
        await world.end()
        if wanted.contains("files-rsync"), let figure = try rsync() { figures.append(figure) }
        return figures.filter { wanted.contains($0.name) }
    }

    // MARK: Figures

    /// A file that goes while nothing else happens.
    private func alone(in world: BenchWorld, _ ceiling: FileCeiling) async throws -> [Figure] {
        say("sealing, sending and saving \(size)")
        let before = [try Memory.beginPeak(of: getpid()), try Memory.beginPeak(of: world.peerID)]
        let (sealed, message) = try await world.send([try source(byteCount, 1)])
        let taken = try await world.fetch(message)
        let saved = try await world.saveThere(to: folder + "/files/saved")
        try FileManager.default.removeItem(atPath: folder + "/files/saved")
        let after = [try Memory.peak(of: getpid()), try Memory.peak(of: world.peerID)]
        let most = zip(before, after).map { $1 - $0 }.max() ?? 0
        let bytes = Double(byteCount)
        return [
            Figure(
                "files-seal", samples: [sealed], unit: "s",
                budget: bytes * ceiling.sealing / 0.6, limit: bytes * ceiling.sealing,
                note: "\(size) from the disk to a sealed file on it, \(rate(sealed)); the limit is "
                    + "one cipher and two hashes a byte on one core"),
            Figure(
                "files-transfer", samples: [taken], unit: "s",
                budget: bytes * ceiling.sending / 0.6, limit: bytes * ceiling.sending,
                note: "\(size) from asked for until all of it lies, checked, on the other disk, "
                    + "\(rate(taken)); the limit is a cipher and a hash a byte on each side, "
                    + "a core for each"),
            Figure(
                "files-save", samples: [saved], unit: "s",
                budget: bytes * ceiling.opening / 0.6, limit: bytes * ceiling.opening,
                note: "\(size) from sealed on the disk to a file of the person, durable, "
                    + "\(rate(saved)); the limit is a cipher and a hash a byte on one core"),
            Figure(
                "files-memory", samples: [Double(most)], unit: "bytes", budget: 100 * 1_048_576,
                note: "what the process that takes more of it held above idle while it went"),
        ]
    }

    /// Messages beside a file that goes the same way.
    private func messages(in world: BenchWorld) async throws -> [Figure] {
        say("sending messages one after the other, alone and while \(size) go the same way")
        let idle = try await world.pings(300)
        let (_, message) = try await world.send([try source(byteCount, 2)])
        let busy = try await world.pings(whileFetching: message)
        return [
            Figure(
                "files-message-idle", samples: idle, unit: "s",
                note: "command here to shown there while nothing else goes"),
            Figure(
                "files-message", samples: busy.samples, unit: "s", budget: 20e-3,
                note: "the same while a file goes on the same link (\(size) in "
                    + "\(String(format: "%.1f s", busy.time)), \(rate(busy.time))); "
                    + "the p99 is to be below 20 ms"),
        ]
    }

    /// A file whose receiver is killed in the midst of it.
    private func resumed(in world: BenchWorld) async throws -> [Figure] {
        say("killing the process that receives, in the midst of \(size)")
        let (_, message) = try await world.send([try source(byteCount, 3)])
        let result = try await world.killAndResume(message, at: byteCount / 3)
        return [
            Figure(
                "files-resume", samples: [result.first], unit: "s", budget: 0.2,
                note: "a process that was killed is there again, until a new chunk is on its disk: "
                    + "dialling and the handshake included"),
            Figure(
                "files-again", samples: [result.againByteCount], unit: "bytes", budget: 65_536,
                note: "what came to it after that beyond what it lacked of \(size): all frames, "
                    + "those that are not about files included"),
        ]
    }

    private func many(in world: BenchWorld) async throws -> Figure {
        let (count, each) = (Self.manyCount, Self.manyByteCount)
        say("sending \(count) files of \(each >> 10) KiB")
        let start = seconds()
        for first in stride(from: 0, to: count, by: 16) {
            let files = try (first..<min(first + 16, count)).map { try source(each, 1_000 + $0) }
            _ = try await world.send(files)
        }
        let sealed = seconds() - start
        try await world.untilHeld(count)
        let time = seconds() - start
        return Figure(
            "files-many", samples: [time], unit: "s",
            note: "\(count) files of \(each >> 10) KiB, from the first that is sealed until all "
                + "are there; sealed after \(String(format: "%.1f s", sealed)), each durable")
    }

    private func rsync() throws -> Figure? {
        let peer = FilePeers(folder: folder + "/files", say: say)
        guard let time = try peer.rsync(try source(byteCount, 4)) else { return nil }
        return Figure(
            "files-rsync", samples: [time], unit: "s",
            note: "\(size) by rsync from its daemon over a socket of loopback, in the clear, "
                + rate(time))
    }

    private func rate(_ time: Double) -> String {
        String(format: "%.0f MB/s", Double(byteCount) / 1e6 / time)
    }

    /// A file of so many bytes that no other one has.
    private func source(_ byteCount: Int, _ seed: Int) throws -> String {
        let path = "\(folder)/files/source-\(seed)"
        try Data().write(to: URL(filePath: path))
        let file = try FileHandle(forWritingTo: URL(filePath: path))
        var state = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 | 1
        var left = byteCount
        while left > 0 {
            let words = (0..<min(131_072, (left + 7) / 8)).map { _ in
                state ^= state << 13
                state ^= state >> 7
                state ^= state << 17
                return state
            }
            let bytes = words.withUnsafeBytes { Data($0.prefix(left)) }
            try file.write(contentsOf: bytes)
            left -= bytes.count
        }
        try file.close()
        return path
    }
}

/// What a process holds in memory.
enum Memory {
    /// Forgets the most that a process held, and says what it holds.
    static func beginPeak(of process: Int32) throws -> Int {
        // Where it cannot be forgotten the peak is that of the whole run: too much, never too little.
        try? Data("5".utf8).write(to: URL(filePath: "/proc/\(process)/clear_refs"))
        return try read("VmRSS:", of: process)
    }

    /// The most that a process held since then.
    static func peak(of process: Int32) throws -> Int { try read("VmHWM:", of: process) }

    private static func read(_ name: String, of process: Int32) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix(name) }
        let words = line?.split(whereSeparator: \.isWhitespace) ?? []
        return (words.count > 1 ? Int(words[1]) ?? 0 : 0) * 1024
    }
}
