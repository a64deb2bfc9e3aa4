import Logging
import ParleyLedger
import ParleyNodeCore
import ParleyStorage

/// A node that does not write: into a home that may not be written, or into a database of which it
/// knows that it is damaged. It is read on as far as it goes.
extension RunningNode {
    /// Why nothing is written; nil where it is.
    func bar(of store: SQLiteStore) -> WriteBar? { store.bar ?? damage.map { .damaged($0) } }

    /// The same, for a caller.
    var bar: WriteBar? { opened.flatMap { bar(of: $0) } }

    /// Notes that the store failed. After damage nothing more is written, by no later process either.
    func note(_ error: StoreError, _ event: Logger.Message) {
        let isToldAlready = error.code == .full && lastFailure?.code == .full
        lastFailure = error
        if error.code != .full {
            logger.error(event, metadata: ["error": "\(error)"])
        } else if !isToldAlready {
            // It fails as often as something comes: once is enough, until something was stored again.
            logger.error("the disk is full: nothing is stored until there is space")
        }
        if error.code == .corrupt { note(damage: words(of: error)) }
    }

    /// Runs what reads the store, and notes where that finds damage.
    func noting<R>(_ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch let error as StoreError where error.code == .corrupt {
            note(error, "the store is damaged")
            throw error
        }
    }

    /// Notes damage that was found, if any was. Returns whether the node is there, and writes.
    func goesOn(noting damage: String?) -> Bool {
        if let damage {
            logger.error("the database is damaged", metadata: ["damage": "\(damage)"])
            note(damage: damage)
        }
        return opened != nil && bar == nil
    }

    private func note(damage what: String) {
        guard let opened, bar(of: opened) == nil else { return }
        let note = DamageNote(time: now.wall, what: what)
        damage = note
        do {
            try opened.home.note(note)
        } catch {
            // The disk that is damaged may take no note either: this process knows it.
            logger.warning("the damage was not noted", metadata: ["error": "\(error)"])
        }
        outlet?.leaveAll()
    }

    /// Keeps or removes the note, by the findings of a full check.
    func keepNote(of report: DoctorReport, in store: SQLiteStore) {
        if let what = report.damage { return note(damage: what) }
        guard store.bar != .readOnly, store.bar != .full, store.home.damage != nil else { return }
        do {
            try store.home.forgetDamage()
        } catch {
            logger.warning("the note was not removed", metadata: ["error": "\(error)"])
        }
    }

    /// Drops all waiting inputs: links end, and callers are told why.
    func refuseAll(_ bar: WriteBar) {
        while let input = inbox.read({ $0.next() }) {
            switch input {
            case .command(let id, _):
                waiting.removeValue(forKey: id)?.resume(throwing: NodeError(StoreError(bar)))
            case .linkOpened(let link, _), .frame(let link, _): outlet?.hangUp(link)
            case .started, .linkClosed, .dialFailed, .sighted, .networkChanged, .timer,
                .madeDurable, .relay, .roomOn, .fileKept:
                break
            }
        }
        _ = inbox.read { $0.takeFreed() }
        if inbox.endTurn() { schedule() }
    }
}
