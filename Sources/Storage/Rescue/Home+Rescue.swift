/// The files of a repair: what is rescued lies beside the database until it takes its place, and the old
/// one for some days after that.
extension Home {
    /// The rescued data lies here until it is complete.
    var rescued: String { database + ".rescued" }

    private static let besides = ["", "-wal", "-shm"]
    private static let asideCountMax = 1_000
    /// How long a database is kept that a repair put aside, in days and in seconds.
    public static let asideDayMax: UInt64 = 7
    private static let asideTimeMax = asideDayMax * 86_400

    /// The database; if there is none, the one that was put aside last.
    var newestDatabase: String? {
        disk.byteCount(database) ?? 0 > 0 ? database : newestAside
    }

    /// The database that a repair put aside last, where one did.
    private var newestAside: String? { asides.last }

    /// The databases that repairs put aside, the newest last.
    public var asides: [String] {
        (1...Self.asideCountMax).map(aside).filter { disk.exists($0) }
    }

    /// That there is no database, with the one that a repair put aside, where there is any.
    public var databaseGone: HomeError {
        HomeError(.databaseGone, path: database, detail: newestAside ?? "")
    }

    private func aside(_ number: Int) -> String { "\(database).damaged-\(number)" }

    /// Removes rescued data that replaces nothing.
    public func discardRescued() throws(HomeError) {
        for end in Self.besides { try disk.remove(rescued + end) }
        try SchemaTransplant.discard(in: self)
    }

    /// Removes what a repair or a trial of one left that was ended in the middle, while nobody else can be
    /// at it.
    func discardRescuedLeftovers() throws(HomeError) {
        let places = [rescued] + SchemaTransplant.places(in: self)
        guard places.contains(where: { disk.exists($0) }) else { return }
        try discardRescued()
    }

    /// Removes databases that repairs put aside long enough ago: what is deleted from the present one, or
    /// disappears, is still in them.
    ///
    /// - Parameter time: in Unix seconds.
    public func dropAsides(at time: UInt64) throws(HomeError) {
        for file in asides {
            guard let since = disk.changeTime(of: file), time >= since,
                time - since >= Self.asideTimeMax
            else { continue }
            // The database last: as long as it exists, the rest is found with it.
            for end in Self.besides.reversed() { try disk.remove(file + end) }
        }
    }

    /// Puts the rescued database in the place of the damaged one, which is kept beside it. Its
    /// store is closed.
    ///
    /// - Returns: where the old database is. If there was none any more, the one that was put aside before.
    public func takeRescued() throws(HomeError) -> String {
        let former = disk.exists(database) ? nil : newestAside
        let held = try disk.lock(self)
        defer { withExtendedLifetime(held) {} }
        guard disk.exists(rescued) else {
            throw HomeError(.other, path: rescued, detail: "it is gone; repair it again")
        }
        // Behind all others, so that the newest is the last one also where earlier ones were removed.
        let last = (1...Self.asideCountMax).last { disk.exists(aside($0)) } ?? 0
        let free = last + 1
        guard free <= Self.asideCountMax else {
            throw HomeError(.other, path: database, detail: "there are too many old ones beside it")
        }
        // The database last: as long as it exists, nothing has changed.
        for end in Self.besides.reversed() where disk.exists(database + end) {
            try disk.move(database + end, to: aside(free) + end)
        }
        try disk.move(rescued, to: database)
        try discardRescued()
        try forgetDamage()
        return former ?? aside(free)
    }
}
