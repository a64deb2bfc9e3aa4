internal import ParleySealing
internal import ParleyWire

/// Names the first lines of a log by its day and their content: a log that has grown is recognised,
/// whatever its file name. Line endings do not count.
struct LineNames {
    /// How many lines are named.
    private(set) var lineCount = 0
    /// The names of its first 1, 2, 4, 8 … lines.
    private(set) var beginnings: [String] = []
    private var hash = LabelledHash(.file)

    /// The name of nothing of a log that begins on this day. The same words on another day are another log.
    init(day: CalendarDay) {
        hash.update(Array("log of \(day)\n".utf8))
    }

    /// The name of these lines.
    init(day: CalendarDay, _ lines: some Sequence<ArraySlice<UInt8>>) {
        self.init(day: day)
        for line in lines { add(line) }
    }

    /// Takes the next line in, without its end.
    mutating func add(_ line: ArraySlice<UInt8>) {
        hash.update(line)
        hash.update(0x0A as UInt8)
        lineCount += 1
        if lineCount.nonzeroBitCount == 1 { beginnings.append(name) }
    }

    /// The name of all lines until now, as 64 hex digits.
    var name: String {
        var end = hash
        let digest: Digest = end.finalize()
        return digest.description
    }
}
