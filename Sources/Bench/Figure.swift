import Glibc

/// One measured figure, beside what it may be and what the machine allows.
public struct Figure: Codable, Equatable, Sendable {
    /// Its name, as `catchup-100k`.
    public var name: String
    /// The median, in `unit`.
    public var value: Double
    /// `s`, `bytes`, `1/s` or `count`.
    public var unit: String
    /// The 99th percentile, where it was repeated.
    public var p99: Double?
    /// How often it was measured.
    public var n: Int
    /// What it may be at most.
    public var budget: Double?
    /// What this machine allows at best, measured in the same run.
    public var limit: Double?
    /// Where the time goes, or what the limit is.
    public var note: String

    /// Whether the median is above the budget; what has no budget is never over it.
    public var isOverBudget: Bool { budget.map { value > $0 } ?? false }

    private enum CodingKeys: String, CodingKey {
        case name, value, unit, p99, n, budget, limit, note
    }

    /// Every key is always there; what was not measured or has no bound is `null`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(name, forKey: .name)
        try container.encode(value, forKey: .value)
        try container.encode(unit, forKey: .unit)
        try container.encode(p99, forKey: .p99)
        try container.encode(n, forKey: .n)
        try container.encode(budget, forKey: .budget)
        try container.encode(limit, forKey: .limit)
        try container.encode(note, forKey: .note)
    }

    /// What these samples come to.
    public init(
        _ name: String, samples: [Double], unit: String, budget: Double? = nil,
        limit: Double? = nil, note: String
    ) {
        let sorted = samples.sorted()
        self.name = name
        self.unit = unit
        self.budget = budget
        self.limit = limit
        self.note = note
        n = sorted.count
        value = sorted.isEmpty ? .nan : sorted[sorted.count / 2]
        p99 = sorted.count < 100 ? nil : sorted[sorted.count * 99 / 100]
    }
}

/// Seconds of the clock that never jumps; the same in all processes of this machine.
func seconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}
