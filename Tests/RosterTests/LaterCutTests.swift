import ParleyLedger
import ParleySealing
import ParleyWire
import Testing

@testable import ParleyRoster

/// What an author had not seen ends their words where the first of it says.
@Suite("Cuts of several removals")
struct LaterCutTests {
    private func cut(_ device: DeviceID, _ last: UInt64) -> [LogPlace] {
        [RosterAttackTests.place(device, last)]
    }

    /// How much of the log of a device counts for who had seen `view`, in every order alike.
    private func ends(
        _ village: Village, _ device: DeviceID, seeing view: Roster
    ) -> Set<UInt64?> {
        Set(village.orders().map { village.roster($0).end(of: device, .content, view: view) })
    }

    /// An admin who takes somebody out again holds more of theirs: the higher cut brought back what
    /// the first removal had ended, as new, a year later.
    @Test("who is removed again, after they were back, gets nothing back that had ended before")
    func removedAgain() throws {
        var village = try Village(seed: 40, people: 2)
        village.write(village.add(1), by: 0)
        let device = village.people[1].devices[0].device
        let before = village.roster()
        village.write(village.remove(1, cut: cut(device, 5)), by: 0)
        village.write(village.add(1), by: 0)
        let back = village.roster()
        #expect(ends(village, device, seeing: before) == [6])
        village.write(village.remove(1, cut: cut(device, 9)), by: 0)
        #expect(ends(village, device, seeing: before) == [6])
        #expect(ends(village, device, seeing: back) == [10])
        village.write(village.add(1), by: 0)
        #expect(ends(village, device, seeing: before) == [6])
        #expect(ends(village, device, seeing: back) == [10])
        #expect(ends(village, device, seeing: village.roster()) == [nil])
    }

    @Test("nor does who was made a reader, and is removed then")
    func readerRemoved() throws {
        var village = try Village(seed: 41, people: 2)
        village.write(village.add(1), by: 0)
        let (person, device) = (
            village.people[1].person, village.people[1].devices[0].device
        )
        let before = village.roster()
        let demotion = SetRole(person, role: .reader, cut: Cut(cut(device, 5)))
        village.write(demotion.draft(), by: 0)
        village.write(village.remove(1, cut: cut(device, 9)), by: 0)
        #expect(ends(village, device, seeing: before) == [6])
    }

    @Test("of two who did not know of each other the one counts who held more")
    func concurrent() throws {
        var village = try Village(seed: 42, people: 3)
        village.write(village.add(1), by: 0)
        village.write(village.add(2, .admin), by: 0)
        let device = village.people[1].devices[0].device
        let before = village.roster()
        let seen = Set(village.written.indices)
        village.write(village.remove(1, cut: cut(device, 5)), by: 0, seen: seen)
        let other = village.write(village.remove(1, cut: cut(device, 8)), by: 2, seen: seen)
        #expect(ends(village, device, seeing: before) == [9])
        // What had seen one of them is no first one, whether it had seen the other or not.
        let back = village.write(village.add(1), by: 2, seen: seen.union([other]))
        village.write(village.remove(1, cut: cut(device, 20)), by: 2, seen: seen.union([back]))
        #expect(ends(village, device, seeing: before) == [9])
    }

    /// The end of one device says nothing of another.
    @Test("what ended one device first lets the removal of the person judge the others")
    func otherDevice() throws {
        var village = try Village(seed: 43, people: 2)
        let (first, second) = (
            village.people[1].devices[0].device,
            try village.people[1].addDevice(&village.draws).device
        )
        village.write(village.add(1), by: 0)
        let before = village.roster()
        try village.people[1].revoke(second)
        let end = Ident(
            person: village.people[1].person, identity: village.people[1].log.encoded,
            change: .revoke(second, cut: Cut(cut(second, 3))))
        village.write(end.draft(), by: 1)
        village.write(village.remove(1, cut: cut(first, 7) + cut(second, 7)), by: 0)
        #expect(ends(village, first, seeing: before) == [8])
        #expect(ends(village, second, seeing: before) == [4])
    }

    @Test("of forty removals of one person each ends what was written before it alone")
    func many() throws {
        var village = try Village(seed: 44, people: 2)
        village.write(village.add(1), by: 0)
        let device = village.people[1].devices[0].device
        let before = village.roster()
        var views: [Roster] = []
        for last in UInt64(0)..<40 {
            village.write(village.remove(1, cut: cut(device, last)), by: 0)
            village.write(village.add(1), by: 0)
            views.append(village.roster())
        }
        let now = village.roster()
        #expect(now.end(of: device, .content, view: before) == 1)
        for (index, view) in views.enumerated() {
            let next = index + 1 < views.count ? UInt64(index + 2) : nil
            #expect(now.end(of: device, .content, view: view) == next)
        }
    }
}
