import ParleySimulation
import ParleyWire

/// Numbers at the bounds of what fields hold, and beyond.
extension SeededRandom {
    /// 0, 1, the greatest, powers of two, those beside them, what clocks say, and now and then any.
    mutating func hostile() -> UInt64 {
        let power = UInt64(1) << (next() % 64)
        return switch next() % 12 {
        case 0: 0
        case 1: 1
        case 2: .max
        case 3: .max - 1
        case 4: power
        case 5: power - 1
        case 6: power &+ 1
        case 7: Limits.wallClockMax - 1
        case 8: Limits.placeMax - 1
        case 9: World.epoch + next() % 1_000_000
        default: next() >> (next() % 64)
        }
    }

    /// The same for a field whose range its type holds: most often at its bounds.
    mutating func hostile<Field>(as _: Bounded<Field>.Type = Bounded<Field>.self) -> Bounded<Field>
    {
        switch next() % 4 {
        case 0: .greatest
        case 1: Bounded<Field>.greatest.previous
        default: Bounded(clamping: hostile())
        }
    }

    /// One of `count` numbers from 0.
    mutating func below(_ count: Int) -> Int { Int(next() % UInt64(max(1, count))) }

    mutating func flip() -> Bool { next() % 2 == 0 }

    mutating func bytes(atMost count: Int) -> [UInt8] {
        (0..<below(count + 1)).map { _ in UInt8(truncatingIfNeeded: next()) }
    }

    mutating func check() -> Check { Check(high: next(), low: next()) }

    mutating func identifier<Subject>() -> Identifier<Subject> {
        let words = (next(), next(), next(), next())
        return Identifier { buffer in
            withUnsafeBytes(of: words) { buffer.copyMemory(from: $0) }
        }
    }
}

/// A protobuf message whose numbers somebody chooses anew; its fields stay what they are.
struct HostilePayload {
    private var random: SeededRandom

    init(seed: UInt64) { random = SeededRandom(seed: seed, purpose: "payload") }

    /// The message with about one number in `rate` replaced, in messages inside of it, too.
    mutating func changed(_ message: [UInt8], onceIn rate: UInt64 = 2) -> [UInt8] {
        rewritten(message, onceIn: rate, depth: 4) ?? message
    }

    /// Nil where the bytes are no message.
    private mutating func rewritten(
        _ message: [UInt8], onceIn rate: UInt64, depth: Int
    ) -> [UInt8]? {
        var reader = ByteReader(message)
        var writer = ByteWriter(capacity: message.count + 64)
        do throws(DecodingFailure) {
            while reader.remaining > 0 {
                let key = try reader.number()
                let count: Int? =
                    switch key & 7 {
                    case 0: nil
                    case 1: 8
                    case 5: 4
                    case 2: try reader.count("field", atMost: 1 << 20)
                    default: -1
                    }
                writer.number(key)
                guard let count else {
                    let value = try reader.number()
                    writer.number(random.happens(onceIn: rate) ? random.hostile() : value)
                    continue
                }
                guard count >= 0, key >> 3 > 0 else { return nil }
                let field = Array(try reader.slice(count))
                guard key & 7 == 2 else {
                    writer.raw(field)
                    continue
                }
                let inner = depth > 0 ? rewritten(field, onceIn: rate, depth: depth - 1) : nil
                writer.counted(inner ?? field)
            }
        } catch { return nil }
        return writer.bytes
    }
}
