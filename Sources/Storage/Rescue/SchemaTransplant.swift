import Foundation
import ParleyLedger

/// A copy of a database whose description of its own tables is damaged, with that of a new database in
/// its place: one bad page would else take every row with it.
///
/// The description tells where each table begins. That follows from the order in which tables are made,
/// which is the same in every home, and no table's first page ever moves. The pages of the new
/// description go behind all others: where the old one lay, something else may lie by now.
///
/// Source: sqlite.org/fileformat2.html, 1.3 (header), 1.6 (pages of trees), 4 (log of changes).
struct SchemaTransplant {
    private static let pageByteCount = 4096
    /// The page with the bytes that SQLite locks: it holds nothing.
    private static let lockPage = (1 << 30) / pageByteCount + 1
    private static let leaf: UInt8 = 0x0d
    private static let interior: UInt8 = 0x05
    /// The header before the tree in the first page.
    private static let headerByteCount = 100

    private let home: Home

    init(_ home: Home) { self.home = home }

    /// Where the copy lies.
    static func place(in home: Home) -> String { home.rescued + "-source" }

    private static func model(in home: Home) -> String { home.rescued + "-model" }

    /// What is made for a copy.
    static func places(in home: Home) -> [String] { [place(in: home), model(in: home)] }

    /// Removes what was made for a copy.
    static func discard(in home: Home) throws(HomeError) {
        for file in places(in: home) {
            for end in ["", "-wal", "-shm"] { try home.disk.remove(file + end) }
        }
    }

    /// Whether a database says that the rescued tables lie where they lie in every home, and that
    /// it is as long as its file.
    func fits(_ source: Connection, byteCount: Int) throws(StoreError) -> Bool {
        let length = try source.prepare("PRAGMA page_count")
        guard try length.step("reading how long the database is"),
            Int(length.integer(0)) >= byteCount / Self.pageByteCount
        else { return false }
        length.reset()
        let sound: [String]
        do {
            sound = try Self.list(SQLiteStore.openDatabase(Self.model(in: home), of: home))
        } catch {
            throw StoreError(.inputOutput, attempt: "making a list of tables", detail: "\(error)")
        }
        return try Self.list(source) == sound
    }

    /// What a database says about the rescued tables.
    private static func list(_ database: Connection) throws(StoreError) -> [String] {
        let names = (RescueTable.all.map(\.name) + ["head"]).map { "'\($0)'" }
        let statement = try database.prepare(
            """
            SELECT type || ' ' || name || ' ' || rootpage || ' ' || coalesce(sql, '')
            FROM sqlite_schema WHERE tbl_name IN (\(names.joined(separator: ", "))) ORDER BY name
            """)
        defer { statement.reset() }
        var list: [String] = []
        while try statement.step("reading the list of the tables") {
            list.append(statement.text(0))
        }
        return list
    }

    /// Makes the copy.
    func make(of old: String) throws -> String {
        try Self.discard(in: home)
        let model = try model()
        let place = Self.place(in: home)
        try FileManager.default.copyItem(atPath: old, toPath: place)
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: place))
        // Writes succeeded, or have thrown.
        defer { try? file.close() }
        try applyChanges(of: old, to: file)
        let byteCount = Int(try file.seekToEnd())
        let pageCount = (byteCount + Self.pageByteCount - 1) / Self.pageByteCount
        var first = Self.page(1, of: model)
        var end = pageCount
        for (pointer, child) in try children(of: first) {
            let page = Self.page(child, of: model)
            guard page.first == Self.leaf else { throw unknownForm }
            end += end + 1 == Self.lockPage ? 2 : 1
            try write(page, at: end, file)
            first.set(UInt32(end), at: pointer)
        }
        // No log of changes is beside it; how many pages there are, and no free ones among them.
        first[18] = 1
        first[19] = 1
        first.set(UInt32(end), at: 28)
        for field in [32, 36] { first.set(0, at: field) }
        for field in [24, 92] { first.set(1, at: field) }
        try write(first, at: 1, file)
        return place
    }

    private var unknownForm: HomeError {
        HomeError(.databaseDamaged, path: home.database, detail: "its format is not known")
    }

    /// A new database, of the form that all have.
    private func model() throws -> [UInt8] {
        let place = Self.model(in: home)
        // Closed at once: all of it is in the file then.
        _ = try SQLiteStore.openDatabase(place, of: home)
        guard let bytes = try home.disk.read(place, atMost: 16 << 20),
            bytes.count >= Self.pageByteCount
        else { throw unknownForm }
        return bytes
    }

    /// The pages below the first one, and where it names them.
    private func children(of first: [UInt8]) throws -> [(pointer: Int, page: Int)] {
        let start = Self.headerByteCount
        switch first[start] {
        case Self.leaf: return []
        case Self.interior: break
        default: throw unknownForm
        }
        let count = Int(first[start + 3]) << 8 | Int(first[start + 4])
        var pointers = (0..<count).map { index in
            let place = start + 12 + 2 * index
            return Int(first[place]) << 8 | Int(first[place + 1])
        }
        pointers.append(start + 8)
        return pointers.map { ($0, Int(first.uint32(at: $0))) }
    }

    private static func page(_ number: Int, of bytes: [UInt8]) -> [UInt8] {
        let start = (number - 1) * pageByteCount
        guard number > 0, start + pageByteCount <= bytes.count else { return [] }
        return Array(bytes[start..<start + pageByteCount])
    }

    private func write(_ page: [UInt8], at number: Int, _ file: FileHandle) throws {
        try file.seek(toOffset: UInt64((number - 1) * Self.pageByteCount))
        try file.write(contentsOf: Data(page))
    }

    /// Puts the pages of the log of changes in their places, up to the last one that ends a transaction.
    private func applyChanges(of old: String, to file: FileHandle) throws {
        let (headerByteCount, frameHeader) = (32, 24)
        guard let log = try home.disk.read(old + "-wal", atMost: 1 << 30),
            log.count > headerByteCount
        else { return }
        let salt = log[16..<24]
        // A damaged number would make the copy as long as it says.
        let pageCountMax =
            ((home.disk.byteCount(old) ?? 0) + log.count) / Self.pageByteCount + 1
        var waiting: [(page: Int, start: Int)] = []
        var start = headerByteCount
        while start + frameHeader + Self.pageByteCount <= log.count {
            // Frames of an earlier round have another salt.
            guard log[start + 8..<start + 16].elementsEqual(salt) else { return }
            waiting.append((Int(log.uint32(at: start)), start + frameHeader))
            if log.uint32(at: start + 4) > 0 {
                for (page, content) in waiting where 1...pageCountMax ~= page {
                    try write(
                        Array(log[content..<content + Self.pageByteCount]), at: page, file)
                }
                waiting = []
            }
            start += frameHeader + Self.pageByteCount
        }
    }
}

extension [UInt8] {
    fileprivate func uint32(at place: Int) -> UInt32 {
        self[place..<place + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }

    fileprivate mutating func set(_ value: UInt32, at place: Int) {
        for index in 0..<4 {
            self[place + index] = UInt8(truncatingIfNeeded: value >> (24 - 8 * index))
        }
    }
}
