import Dispatch
import ParleyStorage

/// The database is looked through now and then while the node runs. A disk that loses a bit in an index hides
/// messages, and no query can tell: only a comparison of the index with its table does.
extension Node {
    /// How long after its start a node looks through its database, and how long after each time, in milliseconds.
    static let inspectionPauses: (first: UInt64, next: UInt64) = (10 * 60_000, 24 * 3_600_000)
    /// Beside what the node does, and after it.
    private static let inspections = DispatchQueue(label: "parley.inspection", qos: .background)

    /// Looks through the database after a pause, and then again and again, until the node ends.
    func inspectDatabase(after pause: UInt64) {
        running.clock.call(on: Self.inspections, after: pause) { [weak self] in
            guard let self else { return }
            let damage = damage()
            Task {
                guard await self.running.goesOn(noting: damage) else { return }
                self.inspectDatabase(after: Self.inspectionPauses.next)
            }
        }
    }

    /// What is wrong with the database, in words; nil where nothing is, or where that cannot be told now.
    private func damage() -> String? {
        do throws(HomeError) {
            let complaints = try home.complaints()
            return complaints.isEmpty ? nil : HomeFinding.words(of: complaints)
        } catch  where error.code == .databaseDamaged {
            return error.detail
        } catch {
            return nil
        }
    }
}
