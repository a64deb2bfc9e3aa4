import ParleySealing
import ParleyWire

/// The content of an envelope or a letter: frames as on a link, in sequence.
///
/// `u8 1 ‖ n × counted frame`.
/// Source: `Protocol/06-relay.md`, "What envelopes carry".
struct Parcel {
    fileprivate static let version: UInt8 = 1
    private var writer = ByteWriter(capacity: 1024)
    private let byteCountMax: Int
    private var frameCount = 0

    init(byteCountMax: Int) {
        self.byteCountMax = byteCountMax
        writer.byte(Self.version)
    }

    var bytes: [UInt8] { writer.bytes }

    /// Adds a frame where there is room for it. Returns whether there was.
    @discardableResult
    mutating func add(_ frame: Frame) -> Bool {
        let bytes = frame.encoded()
        guard frameCount < Limits.parcelFrameCountMax,
            writer.bytes.count + bytes.count + 4 <= byteCountMax
        else { return false }
        writer.counted(bytes)
        frameCount += 1
        return true
    }
}

/// The frames of a parcel, one after the other: each is decoded when it is requested, and all share
/// one limit on expansion. So for a sender who is not served only the first frame is decoded.
struct ParcelReader {
    private var reader: ByteReader
    /// What of the limit is left after the frames that were requested.
    private(set) var room = DecodingRoom()

    /// Nil where the bytes are no parcel: another version, a frame that is cut off, or too many.
    init?(_ content: [UInt8]) {
        reader = ByteReader(content)
        // The reason why it is invalid helps nobody.
        guard (try? reader.byte()) == Parcel.version else { return nil }
        var rest = reader
        var count = 0
        while rest.remaining > 0 {
            count += 1
            // As above.
            guard count <= Limits.parcelFrameCountMax, (try? Self.bytes(&rest)) != nil else {
                return nil
            }
        }
    }

    /// Whether the next frame is of this type, which is told without decoding it.
    func isNext(_ kind: Frame.Kind) -> Bool {
        var rest = reader
        // What does not read is none; ``next()`` tells.
        while rest.remaining > 0, let first = (try? Self.bytes(&rest))?.first {
            // As there, what only newer versions know is left out.
            if let known = Frame.Kind(rawValue: first) { return known == kind }
        }
        return false
    }

    /// The next frame, or nil at the end and from a frame on that does not read. What only newer versions
    /// know is left out.
    mutating func next() -> Frame? {
        while reader.remaining > 0 {
            do {
                let bytes = try Self.bytes(&reader)
                if let frame = try Frame.decode(Array(bytes), within: &room) { return frame }
            } catch {
                isWhole = false
                return nil
            }
        }
        return nil
    }

    /// Whether all that was read so far could be.
    private(set) var isWhole = true

    private static func bytes(
        _ reader: inout ByteReader
    ) throws(DecodingFailure) -> ArraySlice<UInt8> {
        try reader.slice(try reader.count("frame", atMost: Limits.envelopeByteCountMax))
    }
}
