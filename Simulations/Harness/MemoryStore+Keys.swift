public import ParleyLedger
public import ParleyNodeCore
public import ParleySealing
public import ParleyWire

extension MemoryStore {
    /// The secret with this name, or nil.
    public func secret(
        _ purpose: SecretPurpose, _ name: [UInt8], in space: SpaceNumber?
    ) throws(StoreError) -> Secret? {
        try called("reading a secret")
        let drawer = SecretDrawer(purpose: purpose, space: space)
        return contents.secrets[drawer]?[ByteKey(bytes: name)].map { Secret($0) }
    }

    /// Keeps a secret under this name, or drops it where it is nil.
    public func setSecret(
        _ secret: Secret?, _ purpose: SecretPurpose, _ name: [UInt8], in space: SpaceNumber?
    ) throws(StoreError) {
        try writes("storing a secret")
        let drawer = SecretDrawer(purpose: purpose, space: space)
        let key = ByteKey(bytes: name)
        let old = contents.secrets[drawer]?[key]
        let new = secret.map { $0.withUnsafeBytes { Array($0) } }
        if purpose == .seed, let secret { tell(secret, of: name, in: space) }
        change {
            $0.secrets[drawer, default: SortedMap()][key] = new
        } back: {
            $0.secrets[drawer]?[key] = old
        }
    }

    /// Has a seed noted for those who look on.
    private func tell(_ seed: Secret, of epoch: [UInt8], in number: SpaceNumber?) {
        guard let book = SeedBook.current, let epoch = OperationID(epoch[...]),
            let space = contents.spaces.first(where: { $0.number == number })
        else { return }
        book.note(EpochSeed(seed, space: space.id), of: epoch)
    }

    /// All of one purpose and space, ascending by name.
    public func secrets(
        _ purpose: SecretPurpose, in space: SpaceNumber?
    ) throws(StoreError) -> [(name: [UInt8], secret: Secret)] {
        try called("reading secrets")
        noteSecretList()
        let drawer = SecretDrawer(purpose: purpose, space: space)
        guard let found = contents.secrets[drawer] else { return [] }
        return zip(found.keys, found.values).map { (name: $0.bytes, secret: Secret($1)) }
    }

    // MARK: Who is named where

    /// The spaces whose control logs name a person, ascending.
    public func spaces(naming person: PersonID) throws(StoreError) -> [NamingSpace] {
        try called("reading where a person is named")
        guard let found = contents.namings[person] else { return [] }
        return zip(found.keys, found.values).map { NamingSpace(space: $0, isShared: $1) }
    }

    /// Notes that the control log of a space names a person.
    public func noteNaming(
        of person: PersonID, in space: SpaceNumber, isShared: Bool?
    ) throws(StoreError) {
        try writes("noting where a person is named")
        let old = contents.namings[person]?[space]
        let new = isShared ?? old ?? false
        change {
            $0.namings[person, default: SortedMap()][space] = new
        } back: {
            $0.namings[person]?[space] = old
        }
    }
}
