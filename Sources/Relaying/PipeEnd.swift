import ParleyWire

/// One end of a pipe: what may be sent into it, and what was taken out of it.
struct PipeEnd: Sendable {
    /// What waits for the other end to have room.
    var unsent: ArraySlice<UInt8> = []
    /// Whether no more credit is granted: what arrived is not consumed yet.
    private var isPaused = false
    /// Bytes that the other end has room for.
    private var room = Limits.pipeCreditByteCount
    /// Bytes that the other end may still send.
    private var granted = Limits.pipeCreditByteCount

    /// The frames that can be sent now.
    mutating func takeFrames(of pipe: UInt32) -> [[UInt8]] {
        var frames: [[UInt8]] = []
        while room > 0, !unsent.isEmpty {
            let piece = Array(unsent.prefix(min(room, Limits.pipeFrameByteCountMax)))
            frames.append(RelayClientFrame.pipe(.bytes(pipe, piece)).encoded())
            unsent = unsent.dropFirst(piece.count)
            room -= piece.count
        }
        return frames
    }

    /// The other end has room for more.
    mutating func grant(_ count: Int) {
        // Granting more than there is gains nothing.
        room = min(room + count, Limits.pipeCreditByteCount)
    }

    /// Stops granting credit, or resumes.
    ///
    /// - Returns: the leave to give for more, 0 for none.
    mutating func pause(_ isPaused: Bool) -> Int {
        self.isPaused = isPaused
        return due()
    }

    /// Bytes came.
    ///
    /// - Returns: the leave to give for more, 0 for none yet; nil where more came than may.
    mutating func receive(_ count: Int) -> Int? {
        guard count <= granted else { return nil }
        granted -= count
        return due()
    }

    private mutating func due() -> Int {
        guard !isPaused, granted <= Limits.pipeCreditByteCount / 2 else { return 0 }
        let credit = Limits.pipeCreditByteCount - granted
        granted = Limits.pipeCreditByteCount
        return credit
    }
}
