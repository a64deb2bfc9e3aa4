import ParleyLedger
import ParleyWire
import Testing

@testable import ParleyNodeCore

@Suite("Walks through spaces")
struct SpaceWalksTests {
    private static func spaces(_ count: Int) throws -> [SpaceRecord] {
        try (0..<count).map {
            let id = try #require(SpaceID(Array(repeating: UInt8($0), count: 32)))
            return SpaceRecord(number: SpaceNumber(Int64($0)), id: id, kind: .group)
        }
    }

    @Test("pass every space once, some at a time, and begin again", arguments: [0, 1, 16, 17, 40])
    func whole(count: Int) throws {
        let spaces = try Self.spaces(count)
        var walks = SpaceWalks()
        for _ in 0..<2 {
            var seen: [SpaceRecord] = []
            repeat {
                let portion = walks.nextPortion(for: .keys, of: spaces)
                #expect(portion.count <= SpaceWalks.portionCountMax)
                seen += portion
            } while walks.isUnderway(.keys)
            #expect(seen == spaces)
        }
    }

    @Test("of one purpose do not move those of another")
    func apart() throws {
        let spaces = try Self.spaces(20)
        var walks = SpaceWalks()
        _ = walks.nextPortion(for: .keys, of: spaces)
        #expect(walks.isUnderway(.keys) && !walks.isUnderway(.devices))
        let devices = walks.nextPortion(for: .devices, of: spaces)
        let keys = walks.nextPortion(for: .keys, of: spaces)
        #expect(devices.first == spaces[0] && keys.first == spaces[16])
    }

    @Test("end where spaces were deleted meanwhile")
    func fewer() throws {
        let spaces = try Self.spaces(40)
        var walks = SpaceWalks()
        _ = walks.nextPortion(for: .keys, of: spaces)
        let rest = walks.nextPortion(for: .keys, of: Array(spaces.prefix(3)))
        #expect(rest.isEmpty && !walks.isUnderway(.keys))
    }
}

@Suite("Withdrawn invitations")
struct WithdrawnInvitationsTests {
    @Test("are watched once each, with what was held last")
    func watch() {
        var invitations = WithdrawnInvitations()
        invitations.watch(SpaceNumber(1), holding: 5)
        invitations.watch(SpaceNumber(1), holding: 9)
        invitations.watch(SpaceNumber(2), holding: 0)
        let held = [1, 1, 2].map { invitations.endWatch(of: SpaceNumber($0)) }
        #expect(held == [9, nil, 0])
    }
}
