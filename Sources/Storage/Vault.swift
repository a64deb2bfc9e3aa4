import Glibc
import ParleyLedger
import ParleySealing

/// The keys of everything else, each sealed in a row of its own.
///
/// Data is sealed under the key of its bucket, and bucket keys under the vault key that only the
/// keystore holds: dropping a row of the vault drops everything that it opens. When the vault key
/// changes, only the rows of the vault are re-encrypted.
final class Vault {
    /// What rows of the vault are for, and of which space, -1 where of none.
    struct Drawer {
        var purpose: Int64
        var space: Int64 = -1

        static let buckets = Drawer(purpose: 0)
        /// The node's own, under names that the code gives them.
        static let named = Drawer(purpose: 1)
    }

    /// The bucket of everything that is not an operation.
    static let structureBucket: Int64 = 0

    /// The bucket of an operation: one for every so many that arrived after one another.
    static func bucket(of operation: Int64) -> Int64 { 1 + operation >> 14 }

    /// The lowest row that an operation of a bucket can have.
    static func firstOperation(of bucket: Int64) -> Int64 { (bucket - 1) << 14 }

    /// How many keys of buckets are held in memory: locked memory is scarce.
    private static let openBucketCountMax = 64

    let statements: Statements
    private let random: RandomSource
    private(set) var keystore: Keystore
    private var open: [Int64: Secret] = [:]
    private var nextRow: Int64
    /// What a rollback has to undo.
    private var made: [Int64] = []
    private var rowBefore: Int64

    init(
        _ keystore: Keystore, _ statements: Statements, _ random: RandomSource, lastRow: Int64
    ) {
        self.random = random
        self.keystore = keystore
        self.statements = statements
        nextRow = lastRow + 1
        rowBefore = nextRow
    }

    /// A keyed hash by which a sealed value is found again.
    func locator(_ purpose: UInt8, _ value: [UInt8]) -> [UInt8] {
        Self.locator(purpose, value, keystore)
    }

    private static func locator(
        _ purpose: UInt8, _ value: [UInt8], _ keystore: Keystore
    ) -> [UInt8] {
        derive(key: keystore.master, .row, context: [purpose] + value, byteCount: 16)
    }

    // MARK: Buckets

    /// The key of a bucket, made and stored where it is new.
    func keyOrNew(of bucket: Int64) throws(StoreError) -> Secret {
        if let key = open[bucket] { return key }
        if let key = try read(.buckets, name(bucket)) { return keep(key, bucket) }
        let key = random.secret()
        try insert(key, .buckets, name(bucket))
        made.append(bucket)
        return keep(key, bucket)
    }

    /// The key of a bucket that exists.
    func key(of bucket: Int64) throws(StoreError) -> Secret {
        guard let key = try knownKey(of: bucket) else {
            throw StoreError(
                .corrupt, attempt: "opening a sealed row", detail: "its bucket has no key")
        }
        return key
    }

    /// The key of a bucket, or nil where it has none.
    func knownKey(of bucket: Int64) throws(StoreError) -> Secret? {
        if let key = open[bucket] { return key }
        return try read(.buckets, name(bucket)).map { keep($0, bucket) }
    }

    /// Whether a bucket has a key.
    func hasKey(of bucket: Int64) throws(StoreError) -> Bool {
        try row(.buckets, name(bucket)) != nil
    }

    /// Drops the keys of these buckets: what they sealed, wherever it still lies, can no longer be
    /// opened.
    func dropBuckets(_ buckets: [Int64]) throws(StoreError) {
        for bucket in buckets {
            try set(nil, .buckets, name(bucket))
            open[bucket] = nil
        }
    }

    private func keep(_ key: Secret, _ bucket: Int64) -> Secret {
        if open.count >= Self.openBucketCountMax { open = [:] }
        open[bucket] = key
        return key
    }

    private func name(_ bucket: Int64) -> [UInt8] {
        withUnsafeBytes(of: bucket.bigEndian) { Array($0) }
    }

    // MARK: Secrets of the node

    /// The secret with this name, or nil.
    func secret(_ name: String) throws(StoreError) -> Secret? {
        try read(.named, locator(0, Array(name.utf8)))
    }

    /// Where the secret with this name is.
    static func locator(ofSecret name: String, _ keystore: Keystore) -> [UInt8] {
        locator(0, Array(name.utf8), keystore)
    }

    /// Keeps a secret under this name, in place of the one before; nil drops it.
    func setSecret(_ secret: Secret?, _ name: String) throws(StoreError) {
        try set(secret, .named, locator(0, Array(name.utf8)))
    }

    // MARK: Rows

    /// The content of a row, or nil.
    func read(_ drawer: Drawer, _ locator: [UInt8]) throws(StoreError) -> Secret? {
        guard let row = try row(drawer, locator) else { return nil }
        return try unseal(row)
    }

    /// Keeps a row in place of the one before, or drops it where the content is nil.
    func set(_ secret: Secret?, _ drawer: Drawer, _ locator: [UInt8]) throws(StoreError) {
        let row = try row(drawer, locator)
        switch (row, secret) {
        case (let row?, let secret?): try replace(secret, row.number)
        case (let row?, nil): try remove(row.number)
        case (nil, let secret?): try insert(secret, drawer, locator)
        case (nil, nil): break
        }
    }

    /// The contents of a whole drawer.
    func all(_ drawer: Drawer) throws(StoreError) -> [Secret] {
        let statement = statements.keys.drawer
        statement.bind(1, drawer.purpose)
        statement.bind(2, drawer.space)
        defer { statement.reset() }
        var found: [Secret] = []
        while try statement.step("reading the vault") {
            found.append(
                try unseal(
                    (
                        statement.integer(0), UInt32(clamping: statement.integer(1)),
                        statement.array(2)
                    )))
        }
        return found
    }

    typealias Row = (number: Int64, generation: UInt32, content: [UInt8])

    private func row(_ drawer: Drawer, _ locator: [UInt8]) throws(StoreError) -> Row? {
        let statement = statements.keys.row
        statement.bind(1, drawer.purpose)
        statement.bind(2, drawer.space)
        statement.bind(3, copying: locator)
        defer { statement.reset() }
        guard try statement.step("reading the vault") else { return nil }
        // A number that no generation has opens nothing.
        let generation = UInt32(exactly: statement.integer(1)) ?? .max
        return (statement.integer(0), generation, statement.array(2))
    }

    private func remove(_ row: Int64) throws(StoreError) {
        let statement = statements.keys.remove
        statement.bind(1, row)
        try statement.run("dropping a key")
    }

    func unseal(_ row: Row) throws(StoreError) -> Secret {
        guard let secret = Self.opened(row, by: keystore) else {
            throw StoreError(
                .corrupt, attempt: "opening the vault", detail: "a row does not open")
        }
        return secret
    }

    /// The content of a row, or nil where it does not open.
    static func opened(_ row: Row, by keystore: Keystore) -> Secret? {
        let place = SealedPlace(
            column: .vaultContent, row: row.number, generation: row.generation)
        guard let key = keystore.key(of: row.generation),
            var bytes = row.content.withUnsafeBytes({ key.open($0, at: place) })
        else { return nil }
        defer { bytes.wipe() }
        return Secret(bytes)
    }

    private func insert(
        _ secret: Secret, _ drawer: Drawer, _ locator: [UInt8]
    ) throws(StoreError) {
        let statement = statements.keys.insert
        statement.bind(1, nextRow)
        statement.bind(2, drawer.purpose)
        statement.bind(3, drawer.space)
        statement.bind(4, copying: locator)
        statement.bind(5, Int64(keystore.generation))
        statement.bind(6, copying: sealed(secret, nextRow))
        try statement.run("storing a key")
        nextRow += 1
    }

    private func replace(_ secret: Secret, _ row: Int64) throws(StoreError) {
        let statement = statements.keys.update
        statement.bind(1, row)
        statement.bind(2, Int64(keystore.generation))
        statement.bind(3, copying: sealed(secret, row))
        try statement.run("storing a key")
    }

    private func sealed(_ secret: Secret, _ row: Int64) -> [UInt8] {
        let place = SealedPlace(column: .vaultContent, row: row, generation: keystore.generation)
        var bytes = secret.withUnsafeBytes { Array($0) }
        defer { bytes.wipe() }
        return keystore.vaultKey.seal(bytes, at: place)
    }

    // MARK: Transactions and generations

    /// Forgets what the transaction would have kept.
    func rolledBack() {
        for bucket in made { open[bucket] = nil }
        made = []
        nextRow = rowBefore
    }

    /// The results of the transaction are permanent.
    func committed() {
        made = []
        rowBefore = nextRow
    }

    /// Seals every row again under the newest key.
    func resealAll() throws(StoreError) {
        var rows: [Row] = []
        let statement = statements.keys.rows
        defer { statement.reset() }
        while try statement.step("reading the vault") {
            rows.append(
                (statement.integer(0), UInt32(clamping: statement.integer(1)), statement.array(2)))
        }
        statement.reset()
        for row in rows where row.generation != keystore.generation {
            try replace(try unseal(row), row.number)
        }
    }

    /// Takes the keystore with another key of the vault.
    func use(_ keystore: Keystore) { self.keystore = keystore }
}

extension Keystore {
    /// The key of a generation that is still known.
    fileprivate func key(of generation: UInt32) -> Secret? {
        if generation == self.generation { return vaultKey }
        return generation &+ 1 == self.generation ? previousVaultKey : nil
    }
}

extension [UInt8] {
    /// Overwrites secret bytes before they are released.
    mutating func wipe() {
        withUnsafeMutableBytes { buffer in
            // A plain loop over memory that nobody reads again may be left out by the compiler.
            buffer.baseAddress.map { explicit_bzero($0, buffer.count) }
        }
    }
}
