import ParleyWire

/// One end of a pipe: what may be sent into it, and what was taken out of it.
struct PipeEnd: Sendable {
    /// What waits for the other end to have room.
    var unsent: [UInt8] = []
    /// Bytes that the other end has room for.
    private var room = Limits.pipeCreditByteCount
    /// Bytes that the other end may still send.
    private var granted = Limits.pipeCreditByteCount

    /// The frames that can be sent now.
    mutating func takeFrames(of pipe: UInt32) -> [[UInt8]] {
        var frames: [[UInt8]] = []
        var taken = 0
        while room > 0, taken < unsent.count {
            let count = min(unsent.count - taken, room, Limits.pipeFrameByteCountMax)
            let piece = Array(unsent[taken..<taken + count])
            frames.append(RelayClientFrame.pipe(.bytes(pipe, piece)).encoded())
            taken += count
            room -= count
        }
        unsent.removeFirst(taken)
        return frames
    }

    /// The other end has room for more.
    mutating func grant(_ count: Int) {
        // Whoever grants more than there is to grant gains nothing by it.
        room = min(room + count, Limits.pipeCreditByteCount)
    }

    /// Bytes came, and are taken at once.
    ///
    /// - Returns: the leave to give for more, 0 for none yet; nil where more came than may.
    mutating func receive(_ count: Int) -> Int? {
        guard count <= granted else { return nil }
        granted -= count
        guard granted <= Limits.pipeCreditByteCount / 2 else { return 0 }
        let credit = Limits.pipeCreditByteCount - granted
        granted = Limits.pipeCreditByteCount
        return credit
    }
}
