import CKernels

/// What this processor can do, asked once.
enum Processor {
    /// 0 nothing special, 1 AVX2, 2 AVX-512, 3 VNNI.
    static let level = ck_level()
}

/// How exactly a model reckons.
public enum Precision: String, CaseIterable, Sendable {
    /// 32-bit floating point.
    case full
    /// Weights and activations in 8 bits: several times as fast where the processor helps.
    case bytes
}

/// A matrix and an offset, packed for the loops that use them.
struct Linear: Sendable {
    private enum Weights {
        case floats([Float])
        case bytes([Int8], scales: [Float], sums: [Int32])
    }
    private let weights: Weights
    private let bias: [Float]
    let inputCount: Int
    let outputCount: Int

    /// - Parameters:
    ///   - weight: the weight from input `i` to output `o`.
    ///   - bias: one number for each output; empty for none.
    init(
        inputCount: Int, outputCount: Int, bias: [Float], precision: Precision,
        weight: (_ output: Int, _ input: Int) -> Float
    ) {
        precondition(outputCount % 16 == 0 && inputCount % 4 == 0, "packed in blocks")
        self.inputCount = inputCount
        self.outputCount = outputCount
        self.bias = bias.isEmpty ? [Float](repeating: 0, count: outputCount) : bias
        switch precision {
        case .full:
            var packed = [Float](repeating: 0, count: inputCount * outputCount)
            for output in 0..<outputCount {
                let start = output / 16 * 16 * inputCount + output % 16
                for input in 0..<inputCount { packed[start + 16 * input] = weight(output, input) }
            }
            weights = .floats(packed)
        case .bytes:
            weights = Self.quantized(inputCount, outputCount, weight)
        }
    }

    private static func quantized(
        _ inputCount: Int, _ outputCount: Int, _ weight: (_ output: Int, _ input: Int) -> Float
    ) -> Weights {
        var packed = [Int8](repeating: 0, count: inputCount * outputCount)
        var scales = [Float](repeating: 0, count: outputCount)
        var sums = [Int32](repeating: 0, count: outputCount)
        var row = [Float](repeating: 0, count: inputCount)
        for output in 0..<outputCount {
            var most: Float = 0
            for input in 0..<inputCount {
                row[input] = weight(output, input)
                most = max(most, abs(row[input]))
            }
            let scale = most > 0 ? most / 127 : 1
            scales[output] = scale
            let start = output / 16 * 16 * inputCount + output % 16 * 4
            for input in 0..<inputCount {
                let value = Int8((row[input] / scale).rounded())
                packed[start + input / 4 * 64 + input % 4] = value
                sums[output] += 128 * Int32(value)
            }
        }
        return .bytes(packed, scales: scales, sums: sums)
    }

    /// Puts each of `rows` rows through it. Rows of `input` may lie further apart than they are
    /// long; those of `output` touch.
    func apply(
        _ input: UnsafePointer<Float>, stride: Int? = nil, rows: Int,
        to output: UnsafeMutablePointer<Float>, _ scratch: inout Scratch
    ) {
        switch weights {
        case .floats(let packed):
            ck_gemm_f32(
                Processor.level, input, rows, inputCount, stride ?? inputCount, packed,
                outputCount, bias, output, outputCount)
        case .bytes(let packed, let scales, let sums):
            precondition(stride == nil || stride == inputCount, "rows of bytes touch")
            let bytes = scratch.bytes(rows * inputCount)
            let rowScales = scratch.scales(rows)
            ck_quantize(input, rows, inputCount, bytes, rowScales)
            ck_gemm_i8(
                Processor.level, bytes, rowScales, rows, inputCount, packed, scales, sums,
                outputCount, bias, output)
        }
    }
}

/// Memory that one worker uses again and again. It belongs to one call at a time.
struct Scratch {
    private final class Block {
        var memory = UnsafeMutableRawBufferPointer(start: nil, count: 0)
        func grow(to count: Int) -> UnsafeMutableRawPointer {
            if memory.count < count {
                memory.deallocate()
                memory = .allocate(byteCount: count, alignment: 64)
            }
            guard let start = memory.baseAddress else {
                preconditionFailure("memory was just allocated")
            }
            return start
        }
        deinit { memory.deallocate() }
    }
    private var blocks: [Block] = []
    private let byteBlock = Block(), scaleBlock = Block()

    /// The floats of one purpose; other purposes have other numbers.
    mutating func floats(_ purpose: Int, _ count: Int) -> UnsafeMutablePointer<Float> {
        while blocks.count <= purpose { blocks.append(Block()) }
        return blocks[purpose].grow(to: max(64, 4 * count)).assumingMemoryBound(to: Float.self)
    }

    func bytes(_ count: Int) -> UnsafeMutablePointer<UInt8> {
        byteBlock.grow(to: max(64, count)).assumingMemoryBound(to: UInt8.self)
    }

    func scales(_ count: Int) -> UnsafeMutablePointer<Float> {
        scaleBlock.grow(to: max(64, 4 * count)).assumingMemoryBound(to: Float.self)
    }
}

/// Sums over 16 numbers at a time.
enum Rows {
    /// Makes the mean of a row 0 and its variance 1, then scales and shifts it.
    static func normalize(
        _ row: UnsafeMutablePointer<Float>, _ count: Int, scale: [Float], shift: [Float],
        epsilon: Float
    ) {
        let wide = UnsafeMutableRawPointer(row)
        var sum = SIMD16<Float>.zero
        for place in stride(from: 0, to: count, by: 16) { sum += load(wide, place) }
        let mean = SIMD16<Float>(repeating: sum.sum() / Float(count))
        var squares = SIMD16<Float>.zero
        for place in stride(from: 0, to: count, by: 16) {
            let value = load(wide, place) - mean
            squares += value * value
        }
        let factor = SIMD16<Float>(
            repeating: 1 / (squares.sum() / Float(count) + epsilon).squareRoot())
        scale.withUnsafeBytes { scale in
            shift.withUnsafeBytes { shift in
                for place in stride(from: 0, to: count, by: 16) {
                    let value = (load(wide, place) - mean) * factor
                    let scaled =
                        value
                        * scale.loadUnaligned(
                            fromByteOffset: 4 * place, as: SIMD16<Float>.self)
                        + shift.loadUnaligned(fromByteOffset: 4 * place, as: SIMD16<Float>.self)
                    wide.storeBytes(of: scaled, toByteOffset: 4 * place, as: SIMD16<Float>.self)
                }
            }
        }
    }

    /// Adds one row to another.
    static func add(
        _ other: UnsafePointer<Float>, to row: UnsafeMutablePointer<Float>, _ count: Int
    ) {
        let wide = UnsafeMutableRawPointer(row)
        for place in stride(from: 0, to: count, by: 16) {
            let value = load(wide, place) + load(UnsafeRawPointer(other), place)
            wide.storeBytes(of: value, toByteOffset: 4 * place, as: SIMD16<Float>.self)
        }
    }

    /// The dot product of two rows.
    static func dot(
        _ one: UnsafePointer<Float>, _ other: UnsafePointer<Float>, _ count: Int
    ) -> Float {
        var sum = SIMD16<Float>.zero
        for place in stride(from: 0, to: count, by: 16) {
            sum += load(UnsafeRawPointer(one), place) * load(UnsafeRawPointer(other), place)
        }
        return sum.sum()
    }

    /// Adds a multiple of one row to another.
    static func add(
        _ other: UnsafePointer<Float>, times factor: Float,
        to row: UnsafeMutablePointer<Float>, _ count: Int
    ) {
        let wide = UnsafeMutableRawPointer(row)
        let factors = SIMD16<Float>(repeating: factor)
        for place in stride(from: 0, to: count, by: 16) {
            let value = load(wide, place) + factors * load(UnsafeRawPointer(other), place)
            wide.storeBytes(of: value, toByteOffset: 4 * place, as: SIMD16<Float>.self)
        }
    }

    @inline(__always)
    private static func load(_ memory: UnsafeRawPointer, _ place: Int) -> SIMD16<Float> {
        memory.loadUnaligned(fromByteOffset: 4 * place, as: SIMD16<Float>.self)
    }
}
