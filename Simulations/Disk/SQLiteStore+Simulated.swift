public import ParleyLedger
public import ParleyNodeCore
import ParleySealing
public import ParleySimulation
public import ParleyStorage
public import ParleyWire

extension StoreChoice {
    /// The production store, on a disk of its own that breaks.
    public static var sqlite: StoreChoice {
        StoreChoice { seed in try FaultDisk(seed: seed).open() }
    }
}

extension FaultDisk {
    /// After how many pages the log of changes is moved into the database: often, in some lives,
    /// so that power is lost in the middle of that as well.
    private static let checkpointPageCounts = [4_000, 400, 40, 8]

    /// Opens the home on this disk as production does, or makes it. Nothing fails meanwhile.
    public func open() throws(HomeError) -> SQLiteStore {
        let wasObserved = isObserved
        isObserved = true
        defer { isObserved = wasObserved }
        openCount += 1
        var random = SeededRandom(seed: seed, purpose: "life \(openCount)")
        let pageCount = Self.checkpointPageCounts[Int(random.next() % 4)]
        let store = try SQLiteStore.open(home: home, unlock: .keyFile, random: random)
        store.setCheckpoint(pageCount: pageCount)
        return store
    }
}

extension SQLiteStore: SimulatedStore {
    /// The disk below it.
    public var faultDisk: FaultDisk {
        guard let disk = home.disk as? FaultDisk else {
            preconditionFailure("a simulated store lies on a simulated disk")
        }
        return disk
    }

    /// Whether somebody outside looks on: then no call of the disk counts, and none fails.
    public var isObserved: Bool {
        get { faultDisk.isObserved }
        set { faultDisk.isObserved = newValue }
    }

    /// How often the disk below changed: nothing is stored without it.
    public var changeCount: UInt64? { faultDisk.changeCount }

    /// Every file of the disk.
    public var files: [StoredFile] { faultDisk.files }

    /// The files as a shutdown would leave them, seen on a copy of the disk.
    public func filesAfterShutdown() throws -> [StoredFile] {
        let disk = faultDisk.copy()
        do { try disk.open().close() }
        return disk.files
    }

    /// What the guard told when the home was opened.
    public var foundBehind: Rejoin? { Rejoin(self) }

    /// Makes the `call`-th call of the disk that such a fault can hit fail.
    public func fail(atCall call: Int, _ code: StoreError.Code) {
        faultDisk.fail(code == .full ? .full : .inputOutput, atCall: call)
    }

    /// The same: what such a fault can hit is what changes the disk.
    public func fail(afterChange change: Int, _ code: StoreError.Code) {
        fail(atCall: change, code)
    }

    /// Forgets a failure that was asked for and has not come up.
    public func failNoMore() { faultDisk.failNoMore() }

    /// The process dies, and the next one opens what is left on the disk.
    public func afterDeath(losingPower: Bool) throws -> any SimulatedStore {
        if losingPower { faultDisk.losePower() } else { faultDisk.kill() }
        return try faultDisk.open()
    }

    /// A copy of the disk. Put back, it leaves the guard alone: an old backup is found out by it.
    public func snapshot() -> StoreSnapshot {
        let (disk, copy) = (faultDisk, faultDisk.copy())
        return StoreSnapshot {
            let guardBytes = disk.bytes(of: "guard")
            disk.restore(copy)
            if let guardBytes { try disk.replace("guard", with: guardBytes) }
            return try disk.open()
        }
    }

    /// Another store on a copy of the disk.
    public func copy() throws -> any SimulatedStore {
        let store = try faultDisk.copy().open()
        store.isObserved = true
        return store
    }

    /// Seals the vault anew.
    public func forgetKeys() throws { try renewVaultKey() }

    /// Writes the guard.
    public func rememberHeads(
        of device: DeviceID, cardVersion: CardVersion, isBehind: Bool
    ) throws {
        if rejoin == nil || isBehind {
            try writeGuard(heads: heads(of: device), cardVersion: cardVersion)
        } else {
            try rejoined(heads: heads(of: device))
        }
    }
}
