import ParleyLedger
import ParleySealing
import ParleyWire
import Testing

@testable import ParleyRoster

@Suite("Cuts of who is out themselves")
struct OutsiderCutTests {
    private func places(_ device: DeviceID, _ sequence: UInt64) -> [LogPlace] {
        [
            LogPlace(
                device: device, lane: .content, sequence: sequence,
                operation: OperationID { $0[0] = UInt8(sequence) })
        ]
    }

    /// A removed member revoked a device of their own, dated back and with a cut far above the
    /// remover's: no right is asked for that, and the union gave them the whole log again.
    @Test("Attack 38: a removed member's own revocation lifts no cut, in any order")
    func removedMember() throws {
        var village = try Village(seed: 381, people: 3)
        village.write(village.add(1), by: 0)
        let before = village.roster()
        let seen = Set(village.written.indices)
        let device = village.people[1].devices[0].device
        village.write(village.remove(1, cut: places(device, 5)), by: 0)
        try village.people[1].revoke(device)
        let lift = Ident(
            person: village.people[1].person, identity: village.people[1].log.encoded,
            change: .revoke(device, cut: Cut(places(device, 99))))
        let lifting = village.write(lift.draft(), by: 1, seen: seen)
        #expect(village.outcome(lifting) == .holds)
        for order in village.orders() {
            let roster = village.roster(order)
            #expect(
                roster.limit(of: device, lane: .content)
                    == .through(5, OperationID { $0[0] = 5 }))
            #expect(roster.judges(device, .content, 5, view: before))
            #expect(!roster.judges(device, .content, 6, view: before))
        }
    }

    @Test("Attack 38: nor does one that had seen the removal, in any order")
    func knowing() throws {
        var village = try Village(seed: 385, people: 2)
        village.write(village.add(1), by: 0)
        let device = village.people[1].devices[0].device
        village.write(village.remove(1, cut: places(device, 5)), by: 0)
        try village.people[1].revoke(device)
        let lift = Ident(
            person: village.people[1].person, identity: village.people[1].log.encoded,
            change: .revoke(device, cut: Cut(places(device, 99))))
        village.write(lift.draft(), by: 1)
        for order in village.orders() {
            #expect(
                village.roster(order).limit(of: device, lane: .content)
                    == .through(5, OperationID { $0[0] = 5 }))
        }
    }

    /// The removal of old still held, and took the cut of everything said later: all that the lost
    /// device ever wrote was gone.
    @Test("who came back is heard of the cut for a device lost since, in any order")
    func cameBack() throws {
        var village = try Village(seed: 386, people: 2)
        let lost = try village.people[1].addDevice(&village.draws).device
        village.write(village.add(1), by: 0)
        village.write(village.remove(1, cut: places(lost, 5)), by: 0)
        village.write(village.add(1), by: 0)
        let back = village.roster()
        #expect(back.contains(lost))
        try village.people[1].revoke(lost)
        let end = Ident(
            person: village.people[1].person, identity: village.people[1].log.encoded,
            change: .revoke(lost, cut: Cut(places(lost, 9))))
        village.write(end.draft(), by: 1)
        for order in village.orders() {
            let roster = village.roster(order)
            #expect(
                roster.limit(of: lost, lane: .content) == .through(9, OperationID { $0[0] = 9 }))
            #expect(roster.judges(lost, .content, 9, view: back))
            #expect(!roster.judges(lost, .content, 10, view: back))
        }
    }

    /// The stolen device said the same of itself, with the very proof that revoked it.
    @Test("Attack 38: a stolen device lifts no cut by revoking itself, in any order")
    func stolenDevice() throws {
        var village = try Village(seed: 382, people: 2)
        let first = village.people[0].devices[0].device
        let stolen = try village.people[0].addDevice(&village.draws).device
        let ada = village.people[0]
        let addition = Ident(
            person: ada.person, identity: ada.log.encoded, prekeys: ada.prekeys, change: .add)
        village.write(addition.draft(), by: first, seen: Set(village.written.indices))
        let before = village.roster()
        #expect(before.contains(stolen))
        let seen = Set(village.written.indices)
        try village.people[0].revoke(stolen)
        let proof = village.people[0].log.encoded
        func revocation(_ last: UInt64) -> Draft {
            Ident(
                person: ada.person, identity: proof,
                change: .revoke(stolen, cut: Cut(places(stolen, last)))
            ).draft()
        }
        village.write(revocation(5), by: first, seen: seen)
        village.write(revocation(99), by: stolen, seen: seen)
        for order in village.orders() {
            let roster = village.roster(order)
            #expect(
                roster.limit(of: stolen, lane: .content)
                    == .through(5, OperationID { $0[0] = 5 }))
            #expect(!roster.judges(stolen, .content, 6, view: before))
        }
    }

    @Test("who gives a device up is heard of its cut, where nobody else says where it ends")
    func givenUp() throws {
        var village = try Village(seed: 383, people: 1)
        let device = village.people[0].devices[0].device
        try village.people[0].revoke(device)
        let end = Ident(
            person: village.people[0].person, identity: village.people[0].log.encoded,
            change: .revoke(device, cut: Cut(places(device, 7))))
        village.write(end.draft(), by: 0)
        #expect(
            village.roster().limit(of: device, lane: .content)
                == .through(7, OperationID { $0[0] = 7 }))
    }

    @Test("Attack 41: a removed admin's cut counts for nothing, in any order")
    func removedAdmin() throws {
        var village = try Village(seed: 384, people: 3)
        village.write(village.add(1, .admin), by: 0)
        village.write(village.add(2), by: 0)
        let seen = Set(village.written.indices)
        let device = village.people[2].devices[0].device
        try village.people[2].revoke(device)
        let proof = village.people[2].log.encoded
        let person = village.people[2].person
        func revocation(_ last: UInt64) -> Draft {
            Ident(
                person: person, identity: proof,
                change: .revoke(device, cut: Cut(places(device, last)))
            ).draft()
        }
        village.write(village.remove(1), by: 0)
        village.write(revocation(5), by: 0)
        village.write(revocation(99), by: 1, seen: seen)
        for order in village.orders() {
            #expect(
                village.roster(order).limit(of: device, lane: .content)
                    == .through(5, OperationID { $0[0] = 5 }))
        }
    }
}
