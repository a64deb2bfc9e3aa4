import CKernels

/// The vectors of one model in memory: bytes, and above ``bytesCountMax`` only their signs.
///
/// It belongs to one worker at a time. Source: `Protocol/10-search.md`, "Vectors".
public final class VectorTable {
    /// A text that is near, by its operation.
    public struct Near: Equatable, Sendable {
        /// The operation.
        public var operation: Int64
        /// The cosine between it and what was looked for.
        public var cosine: Float
        /// A text that is this near.
        public init(operation: Int64, cosine: Float) {
            self.operation = operation
            self.cosine = cosine
        }
    }

    /// What a scan found.
    public struct Scan: Equatable, Sendable {
        /// The nearest, first of all the nearest.
        public var nearest: [Near]
        /// Of all that were looked at.
        public var mean: Float
        /// The same.
        public var deviation: Float
        /// Whether only signs were compared: then each vector must be looked at itself.
        public var isRough: Bool

        /// By how many standard deviations something is nearer than usual.
        public func deviations(_ cosine: Float) -> Float {
            deviation > 0 ? (cosine - mean) / deviation : 0
        }
    }

    /// Above so many, only signs are kept: measured, a scan of the bytes of both models then takes
    /// longer than ten milliseconds.
    public static let bytesCountMax = 200_000
    /// So many of a rough scan are worth a look at the vector itself.
    public static let roughCount = 4_000
    /// By so many the usual distance is told, where only signs are kept.
    private static let sampleCountMax = 4_096

    /// Numbers of a vector.
    public let dimension: Int
    private let countMax: Int
    /// By row, ascending but for those that came late; 0 where the row is gone.
    private var operations: [Int64] = []
    private var rows: [UInt8] = []
    private var signs: [UInt64] = []
    private var isRough = false
    private var places: [Int64: Int] = [:]

    /// An empty table.
    public init(dimension: Int, countMax: Int = VectorTable.bytesCountMax) {
        precondition(dimension % 64 == 0, "rows are whole numbers of 64 bits")
        self.dimension = dimension
        self.countMax = countMax
    }

    /// Vectors in it.
    public var count: Int { places.count }
    /// Bytes in memory.
    public var byteCount: Int {
        rows.capacity + 8 * signs.capacity + 8 * operations.capacity + 24 * places.capacity
    }
    /// Operations whose vectors are in it, in no order.
    public func contains(_ operation: Int64) -> Bool { places[operation] != nil }

    // MARK: Filling

    /// Adds a vector, in place of the one that the operation had.
    public func add(_ vector: [UInt8], of operation: Int64) {
        precondition(vector.count == dimension, "a vector has the size of its model")
        remove(operation)
        let row = operations.count
        operations.append(operation)
        places[operation] = row
        if !isRough || row < Self.sampleCountMax {
            makeRoom()
            rows += vector.lazy.map { $0 ^ 0x80 }
        }
        if isRough {
            addSigns { vector[$0] < 0x80 }
        } else if places.count > countMax {
            roughen()
        }
    }

    /// An array that grows by itself doubles; this much memory may lie idle only by a quarter.
    private func makeRoom() {
        guard rows.capacity < rows.count + dimension else { return }
        rows.reserveCapacity(rows.count + rows.count / 4 + 64 * dimension)
    }

    private func addSigns(_ isPositive: (Int) -> Bool) {
        for start in stride(from: 0, to: dimension, by: 64) {
            var word: UInt64 = 0
            for bit in 0..<64 where isPositive(start + bit) { word |= 1 << UInt64(bit) }
            signs.append(word)
        }
    }

    /// Forgets a vector.
    public func remove(_ operation: Int64) {
        guard let row = places.removeValue(forKey: operation) else { return }
        operations[row] = 0
        for place in (row * dimension)..<((row + 1) * dimension) where place < rows.count {
            rows[place] = 0x80
        }
        let words = dimension / 64
        for place in (row * words)..<((row + 1) * words) where place < signs.count {
            signs[place] = 0
        }
    }

    private func roughen() {
        isRough = true
        signs.reserveCapacity(operations.count * dimension / 64 * 5 / 4)
        for row in operations.indices {
            let start = row * dimension
            addSigns { rows[start + $0] >= 0x80 }
        }
        rows = Array(rows.prefix(Self.sampleCountMax * dimension))
    }

    // MARK: Searching

    /// The nearest of those that pass.
    ///
    /// - Parameter passes: which operations count; nil for all.
    public func scan(
        _ query: [Float], limit: Int, passes: ((Int64) -> Bool)? = nil
    ) -> Scan {
        let bytes = VectorBytes.pack(query).map { Int8(bitPattern: $0) }
        let chosen = passes.map { passes in
            operations.indices.filter { operations[$0] != 0 && passes(operations[$0]) }
        }
        return isRough ? rough(bytes, limit, chosen) : exact(bytes, limit, chosen)
    }

    private func exact(_ query: [Int8], _ limit: Int, _ chosen: [Int]?) -> Scan {
        let products = products(query, chosen)
        var (sum, squares, count) = (0.0, 0.0, 0)
        var best = Nearest(limit: limit)
        for (index, product) in products.enumerated() {
            let operation = operations[chosen?[index] ?? index]
            guard operation != 0 else { continue }
            let cosine = Float(product) * VectorBytes.productScale
            sum += Double(cosine)
            squares += Double(cosine) * Double(cosine)
            count += 1
            best.offer(operation, cosine)
        }
        return scan(best, sum, squares, count, isRough: false)
    }

    private func scan(
        _ best: Nearest, _ sum: Double, _ squares: Double, _ count: Int, isRough: Bool
    ) -> Scan {
        let mean = count > 0 ? sum / Double(count) : 0
        let variance = count > 0 ? max(0, squares / Double(count) - mean * mean) : 0
        return Scan(
            nearest: best.sorted, mean: Float(mean), deviation: Float(variance.squareRoot()),
            isRough: isRough)
    }

    /// The dot product with each row, or with each chosen one.
    private func products(_ query: [Int8], _ chosen: [Int]?) -> [Int32] {
        let count = chosen?.count ?? rows.count / dimension
        return [Int32](unsafeUninitializedCapacity: count) { output, initialized in
            initialized = count
            rows.withUnsafeBufferPointer { rows in
                guard count > 0, let rows = rows.baseAddress, let output = output.baseAddress
                else { return }
                guard let chosen else {
                    return ck_scan_i8(Processor.level, rows, count, dimension, query, output)
                }
                for (index, row) in chosen.enumerated() {
                    ck_scan_i8(
                        Processor.level, rows + row * dimension, 1, dimension, query,
                        output + index)
                }
            }
        }
    }

    private func rough(_ query: [Int8], _ limit: Int, _ chosen: [Int]?) -> Scan {
        let words = dimension / 64
        var sought = [UInt64](repeating: 0, count: words)
        for (place, number) in query.enumerated() where number >= 0 {
            sought[place / 64] |= 1 << UInt64(place % 64)
        }
        var differences = [UInt16](repeating: 0, count: operations.count)
        ck_scan_bits(
            Processor.level, signs, operations.count, words, sought, &differences)
        var best = Nearest(limit: max(limit, Self.roughCount))
        for row in chosen ?? Array(operations.indices) where operations[row] != 0 {
            best.offer(operations[row], -Float(differences[row]))
        }
        var (sum, squares, count) = (0.0, 0.0, 0)
        for (row, product) in products(query, nil).enumerated() where operations[row] != 0 {
            let cosine = Double(Float(product) * VectorBytes.productScale)
            (sum, squares, count) = (sum + cosine, squares + cosine * cosine, count + 1)
        }
        return scan(best, sum, squares, count, isRough: true)
    }

    /// The cosines between a search and vectors themselves.
    public static func cosines(_ query: [Float], _ vectors: [[UInt8]]) -> [Float] {
        let bytes = VectorBytes.pack(query).map { Int8(bitPattern: $0) }
        return vectors.map { vector in
            precondition(vector.count == bytes.count, "a vector has the size of its model")
            let product = bytes.withUnsafeBufferPointer { bytes in
                vector.withUnsafeBufferPointer { vector in
                    vector.indices.reduce(into: Int32(0)) { sum, index in
                        sum &+= Int32(bytes[index]) &* Int32(Int8(bitPattern: vector[index]))
                    }
                }
            }
            return Float(product) * VectorBytes.productScale
        }
    }
}

/// The best of many, in a heap whose worst is at the top.
private struct Nearest {
    private let limit: Int
    private var heap: [VectorTable.Near] = []

    init(limit: Int) { self.limit = limit }

    var sorted: [VectorTable.Near] { heap.sorted { Self.isBetter($0, $1) } }

    private static func isBetter(_ one: VectorTable.Near, _ other: VectorTable.Near) -> Bool {
        one.cosine != other.cosine ? one.cosine > other.cosine : one.operation > other.operation
    }

    @inline(__always)
    mutating func offer(_ operation: Int64, _ cosine: Float) {
        if heap.count == limit, let worst = heap.first, cosine < worst.cosine { return }
        insert(VectorTable.Near(operation: operation, cosine: cosine))
    }

    private mutating func insert(_ near: VectorTable.Near) {
        if heap.count < limit {
            heap.append(near)
            var child = heap.count - 1
            while child > 0, Self.isBetter(heap[(child - 1) / 2], heap[child]) {
                heap.swapAt(child, (child - 1) / 2)
                child = (child - 1) / 2
            }
            return
        }
        guard limit > 0, Self.isBetter(near, heap[0]) else { return }
        heap[0] = near
        var parent = 0
        while true {
            var worst = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < heap.count && Self.isBetter(heap[worst], heap[child]) { worst = child }
            if worst == parent { return }
            heap.swapAt(parent, worst)
            parent = worst
        }
    }
}
