import Parley
import ParleyWire

/// Files of messages as lines.
enum FileLines {
    /// Blocks of eight heights, for what was heard.
    private static let blocks = Array("▁▂▃▄▅▆▇█")
    private static let barColumns = 24

    /// One file, as it stands below its message.
    static func text(_ file: FileView) -> String {
        var marks: [String] = []
        if file.isVoice {
            let bars = bars(file.waveform)
            marks.append("voice \(playTime(file.duration))" + (bars.isEmpty ? "" : " " + bars))
        } else {
            marks.append(kind(file.type) + harmless(file.name))
            if file.duration > 0 { marks.append(playTime(file.duration)) }
            if file.width > 0, file.height > 0 { marks.append("\(file.width)×\(file.height)") }
            marks.append(size(file.size))
        }
        switch file.state {
        case "here": break
        case "fetching": marks.append("fetching, \(percent(file)) % here")
        case "waiting":
            marks.append(
                file.heldByteCount == 0 ? "waiting" : "waiting, \(percent(file)) % here")
        case "full": marks.append("does not fit")
        case "disk-full": marks.append("the disk is full")
        default: marks.append("not here")
        }
        if let elsewhere = file.elsewhere { marks.append(harmless(elsewhere)) }
        return "[\(marks.joined(separator: ", "))]"
    }

    /// A word for what its sender says that it is.
    private static func kind(_ type: String) -> String {
        if type.hasPrefix("image/") { return "picture " }
        if type.hasPrefix("video/") { return "video " }
        return type.hasPrefix("audio/") ? "sound " : ""
    }

    /// How loud it was, as a row of blocks.
    static func bars(_ waveform: [UInt8]) -> String {
        let count = min(barColumns, waveform.count)
        return String(
            (0..<count).map { bar in
                let part = waveform[
                    bar * waveform.count / count..<(bar + 1) * waveform.count / count]
                return blocks[Int(part.max() ?? 0) * blocks.count / 256]
            })
    }

    /// The transcript, if somebody wrote one.
    static func transcript(_ file: FileView) -> String? {
        file.transcript.map { "“\(harmless($0))”" }
    }

    /// Pending files, and files that others lack.
    static func lines(_ files: NodeStatus.Files) -> [(title: String, line: String)] {
        var lines: [(String, String)] = []
        if files.wantedCount > 0 {
            var line = "\(counted(files.wantedCount, "file")) still to be fetched, "
            line += size(files.wantedByteCount)
            // Of what finds no room here it does not matter who has it.
            let isStopped = files.noRoomCount + files.diskFullCount >= files.wantedCount
            let sources =
                files.sources.isEmpty
                ? ": nobody who is reached now has them"
                : ", from " + VisibleName.list(files.sources.map(harmless))
            if !isStopped { line += sources }
            lines.append(("fetching", line))
        }
        if files.noRoomCount > 0 {
            let count = counted(files.noRoomCount, "file")
            lines.append(
                ("no room", Advice.complete("for \(count): parley files room --limit 20G")))
        }
        if files.diskFullCount > 0 {
            let count = counted(files.diskFullCount, "file")
            lines.append(("disk full", "no space on the disk for \(count): free some"))
        }
        for lack in files.lackedBy {
            let count = counted(lack.count, "file")
            lines.append(
                ("lacked", "\(harmless(lack.name)) lacks \(count) of yours, as far as is known"))
        }
        return lines
    }

    static func percent(_ file: FileView) -> UInt64 {
        file.size == 0 ? 100 : min(99, file.heldByteCount * 100 / file.size)
    }

    /// A number of bytes as people read it.
    static func size(_ byteCount: UInt64) -> String {
        if byteCount < 1_000 { return counted(Int(byteCount), "byte") }
        var (value, unit) = (Double(byteCount) / 1_000, 0)
        let units = ["kB", "MB", "GB"]
        while value >= 999.5, unit < units.count - 1 { (value, unit) = (value / 1_000, unit + 1) }
        let tenths = Int((value * 10).rounded())
        return value < 9.95
            ? "\(tenths / 10).\(tenths % 10) \(units[unit])"
            : "\(Int(value.rounded())) \(units[unit])"
    }
}
