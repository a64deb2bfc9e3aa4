public import ParleyLedger
public import ParleyNodeCore
public import ParleySealing
public import ParleyWire

extension SQLiteStore {
    /// The value under this key, or nil.
    public func value(_ table: ValueTable, _ key: [UInt8]) throws(StoreError) -> [UInt8]? {
        try find(table, key)?.value
    }

    /// Keeps a value under this key, or drops it where it is nil.
    public func setValue(
        _ value: [UInt8]?, _ table: ValueTable, _ key: [UInt8]
    ) throws(StoreError) {
        writes()
        if table == .card || table == .introduction { cardChangeCount += 1 }
        guard let value else {
            let statement = statements.values.remove
            statement.bind(1, Int64(table.rawValue))
            statement.bind(2, copying: locator(table, key))
            return try statement.run("dropping a value")
        }
        if let row = try find(table, key)?.row {
            let statement = statements.values.update
            statement.bind(1, row)
            statement.bind(2, copying: try sealed(key, value, row))
            return try statement.run("storing a value")
        }
        let statement = statements.values.insert
        statement.bind(1, nextValue)
        statement.bind(2, Int64(table.rawValue))
        statement.bind(3, copying: locator(table, key))
        statement.bind(4, copying: try sealed(key, value, nextValue))
        try statement.run("storing a value")
        nextValue += 1
    }

    /// All of a table, ascending by key.
    public func values(
        _ table: ValueTable
    ) throws(StoreError) -> [(key: [UInt8], value: [UInt8])] {
        let statement = statements.values.all
        statement.bind(1, Int64(table.rawValue))
        defer { statement.reset() }
        var found: [(key: [UInt8], value: [UInt8])] = []
        while try statement.step("reading values") {
            found.append(try opened(statement.bytes(1), statement.integer(0)))
        }
        return found.sorted { $0.key.lexicographicallyPrecedes($1.key) }
    }

    private func find(
        _ table: ValueTable, _ key: [UInt8]
    ) throws(StoreError) -> (row: Int64, value: [UInt8])? {
        let statement = statements.values.one
        statement.bind(1, Int64(table.rawValue))
        statement.bind(2, copying: locator(table, key))
        defer { statement.reset() }
        guard try statement.step("reading a value") else { return nil }
        let row = statement.integer(0)
        return (row, try opened(statement.bytes(1), row).value)
    }

    /// Sixteen bytes of keyed hash: two keys that share one will not be met.
    private func locator(_ table: ValueTable, _ key: [UInt8]) -> [UInt8] {
        vault.locator(3, [table.rawValue] + key)
    }

    private func sealed(
        _ key: [UInt8], _ value: [UInt8], _ row: Int64
    ) throws(StoreError) -> [UInt8] {
        var writer = ByteWriter(capacity: key.count + value.count + 4)
        writer.counted(key)
        writer.raw(value)
        return try seal(writer.bytes, .valueContent, row: row)
    }

    private func opened(
        _ sealed: UnsafeRawBufferPointer, _ row: Int64
    ) throws(StoreError) -> (key: [UInt8], value: [UInt8]) {
        var reader = ByteReader(try unseal(sealed, .valueContent, row: row))
        do {
            let key = try reader.slice(try reader.count("key", atMost: Int(Int32.max)))
            return (Array(key), Array(reader.rest()))
        } catch {
            throw Self.damaged("reading a value")
        }
    }

    // MARK: Who is named where

    /// The spaces whose control logs name a person, ascending.
    public func spaces(naming person: PersonID) throws(StoreError) -> [NamingSpace] {
        let statement = statements.namings.ofPerson
        statement.bind(1, copying: vault.locator(Self.namingLocator, person.bytes))
        defer { statement.reset() }
        var found: [NamingSpace] = []
        while try statement.step("reading where a person is named") {
            found.append(
                NamingSpace(
                    space: SpaceNumber(statement.integer(0)), isShared: statement.integer(1) != 0))
        }
        return found
    }

    /// Notes that the control log of a space names a person.
    public func noteNaming(
        of person: PersonID, in space: SpaceNumber, isShared: Bool?
    ) throws(StoreError) {
        writes()
        let namings = statements.namings
        let statement = isShared == nil ? namings.note : namings.set
        statement.bind(1, copying: vault.locator(Self.namingLocator, person.bytes))
        statement.bind(2, space.rawValue)
        if let isShared { statement.bind(3, isShared ? 1 : 0) }
        try statement.run("noting where a person is named")
    }

    private static let namingLocator: UInt8 = 9

    // MARK: Secrets

    /// The node's own secret with this name, as "signing seed", or nil.
    public func secret(_ name: String) throws(StoreError) -> Secret? {
        try vault.secret(name)
    }

    /// Keeps a secret of the node in the vault, in place of the one before.
    ///
    /// Belongs to a transaction of full durability: nothing may leave that names a key which a
    /// crash could take away.
    public func setSecret(_ secret: Secret, _ name: String) throws(StoreError) {
        writes()
        try vault.setSecret(secret, name)
    }
}
