/// Reads a file's form from a place on: a window of it is in memory at a time.
struct FormReader {
    private static let windowByteCount: UInt64 = 64 * 1024
    /// What is read at once of a part whose length the file says.
    static let partByteCountMax = 1 << 20

    private let file: any PlacedBytes
    private var window: [UInt8] = []
    private var windowStart: UInt64 = 0
    /// The next byte's place.
    private(set) var place: UInt64
    /// The place after the last byte that may be read.
    let end: UInt64

    /// A reader of a part of a file.
    init(_ file: any PlacedBytes, from start: UInt64 = 0, to end: UInt64? = nil) {
        self.file = file
        place = start
        self.end = min(end ?? file.byteCount, file.byteCount)
    }

    var isAtEnd: Bool { place >= end }

    mutating func byte() throws -> UInt8 {
        guard place < end else { throw FormFailure.broken }
        let part = try view()
        place += 1
        return part[part.startIndex]
    }

    mutating func bytes(_ count: Int) throws -> [UInt8] {
        guard count >= 0, count <= Self.partByteCountMax, UInt64(count) <= end - min(place, end)
        else { throw FormFailure.broken }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        while bytes.count < count {
            let part = try view().prefix(count - bytes.count)
            bytes += part
            place += UInt64(part.count)
        }
        return bytes
    }

    mutating func skip(_ count: UInt64) throws {
        guard count <= end - min(place, end) else { throw FormFailure.broken }
        place += count
    }

    /// Reads from this place on.
    mutating func move(to other: UInt64) { place = other }

    /// Reads from an earlier place once more.
    mutating func goBack(to earlier: UInt64) { place = min(place, earlier) }

    /// A number of up to eight bytes, the highest first.
    mutating func bigEndian(_ count: Int) throws -> UInt64 {
        try bytes(count).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Its first bytes as a number, the highest first.
    func first(_ count: Int) throws -> UInt64 {
        var reader = self
        return try reader.bigEndian(count)
    }

    /// A number of up to eight bytes, the lowest first.
    mutating func littleEndian(_ count: Int) throws -> UInt64 {
        try bytes(count).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// A name of four letters.
    mutating func name() throws -> String { formName(try bytes(4)) }

    /// Goes to the next byte of this value; false where none follows.
    mutating func find(_ byte: UInt8) throws -> Bool {
        while place < end {
            let part = try view()
            if let found = part.firstIndex(of: byte) {
                place += UInt64(found - part.startIndex)
                return true
            }
            place += UInt64(part.count)
        }
        return false
    }

    /// What of the window follows the place; at least one byte.
    private mutating func view() throws -> ArraySlice<UInt8> {
        if place < windowStart || place >= windowStart + UInt64(window.count) {
            let count = min(Self.windowByteCount, end - place)
            window = try file.bytes(at: place, count: Int(count))
            windowStart = place
            guard !window.isEmpty else { throw FormFailure.broken }
        }
        return window[Int(place - windowStart)...]
    }
}

/// Four bytes as a name; what is no ASCII shows as a question mark.
func formName(_ bytes: some Sequence<UInt8>) -> String {
    String(decoding: bytes.map { (0x20..<0x7F).contains($0) ? $0 : 0x3F }, as: UTF8.self)
}

/// A number in bytes, the highest first.
func bigEndianBytes(_ value: UInt64, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * (count - 1 - $0))) }
}

/// A number in bytes, the lowest first.
func littleEndianBytes(_ value: UInt64, _ count: Int) -> [UInt8] {
    bigEndianBytes(value, count).reversed()
}

/// How a picture is turned before it is shown, the one thing of Exif that stays.
enum Orientation {
    /// The orientation that a block of Exif says, from 1 to 8; 1 where it says none.
    static func read(_ exif: some Collection<UInt8>) -> UInt8 {
        var tiff = Array(exif)
        if tiff.starts(with: Array("Exif\0\0".utf8)) { tiff = Array(tiff.dropFirst(6)) }
        guard tiff.count >= 8, tiff[0] == tiff[1], tiff[0] == 0x49 || tiff[0] == 0x4D else {
            return 1
        }
        func number(_ place: Int, _ count: Int) -> Int? {
            guard place >= 0, place <= tiff.count - count else { return nil }
            let bytes = tiff[place..<place + count]
            let ordered = tiff[0] == 0x4D ? Array(bytes) : bytes.reversed()
            return ordered.reduce(0) { $0 << 8 | Int($1) }
        }
        guard number(2, 2) == 42, let start = number(4, 4), let count = number(start, 2) else {
            return 1
        }
        for index in 0..<count {
            let entry = start + 2 + 12 * index
            guard let tag = number(entry, 2) else { return 1 }
            guard tag == 0x0112 else { continue }
            guard number(entry + 2, 2) == 3, let value = number(entry + 8, 2),
                (1...8).contains(value)
            else { return 1 }
            return UInt8(value)
        }
        return 1
    }

    /// A block of Exif that says the orientation and nothing else.
    static func exif(_ orientation: UInt8) -> [UInt8] {
        [0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0]
            + [0, 0, 0, 0]
    }
}
