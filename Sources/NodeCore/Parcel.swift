import ParleySealing
import ParleyWire

/// What an envelope or a letter carries: frames as on a link, in their turn.
///
/// `u8 1 ‖ n × counted frame`. Source: `Protocol/06-relay.md`, "What envelopes carry".
struct Parcel {
    private static let version: UInt8 = 1
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

    /// The frames in these bytes; nil where they are none. What only newer versions know is left out.
    static func frames(in content: [UInt8]) -> [Frame]? {
        var reader = ByteReader(content)
        var (frames, count): ([Frame], Int) = ([], 0)
        do {
            guard try reader.byte() == version else { return nil }
            while reader.remaining > 0 {
                guard count < Limits.parcelFrameCountMax else { return nil }
                count += 1
                let byteCount = try reader.count("frame", atMost: Limits.envelopeByteCountMax)
                if let frame = try Frame.decode(Array(try reader.slice(byteCount))) {
                    frames.append(frame)
                }
            }
        } catch { return nil }
        return frames
    }
}
