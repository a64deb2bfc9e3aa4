import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleySealing
import ParleySignalling
import ParleyWire
import Testing

@testable import ParleyCheckers
@testable import ParleySimulation

/// Promises about what is right, where all agree about what is wrong.
extension CheckersCanFailTests {
    /// A step that nobody made, of which a roster is said to be another one.
    private func pretend(
        _ input: Input, by node: SimulatedNode, _ effects: [Effect], _ trial: Trial
    ) {
        trial.world.onStep?(StepReport(node: node, input: input, effects: effects, isLost: false))
    }

    /// A node writes into lane 0 what its core would not.
    private func write(
        _ draft: Draft, by node: SimulatedNode, in space: SpaceID, at wall: UInt64? = nil,
        _ trial: Trial
    ) throws {
        let forgery = try #require(try Forgery(node, in: space))
        let run = try #require(
            try forgery.run(
                draft, at: wall ?? World.epoch + trial.world.now,
                naming: try forgery.causes(of: .control)))
        try forgery.keep(run)
        pretend(
            .madeDurable, by: node, [.changed([.membership(forgery.space.number)])], trial)
    }

    @Test("ConsentIsGiven: who wants to be asked is in a group without a word of theirs")
    func acceptedUnasked() throws {
        for isStranger in [false, true] {
            let trial = try Trial(of: "I30")
            let (world, ann, ben) = (trial.world, trial.ann, trial.ben)
            // The first group was accepted because contacts may add people.
            #expect(trial.jury.checkCounts["I30"] ?? 0 > 0)
            _ = try world.perform(.setAdditionPolicy(.ask), on: ben)
            guard
                case .space(let number) = try world.perform(
                    .createGroup(name: "unasked", members: [ben.identity.person]), on: ann)
            else {
                Issue.record("ann founded no group")
                return
            }
            let space = try #require(try ann.store.space(number)).id
            world.run(for: 5_000)
            try trial.jury.verify()
            #expect(try ben.store.space(space) != nil)
            if isStranger {
                _ = try world.perform(.answerContact(ann.identity.person, .block), on: ben)
                _ = try world.perform(.setAdditionPolicy(.contacts), on: ben)
                try trial.jury.verify()
            }
            try write(Accept().draft(), by: ben, in: space, trial)
            trial.isBroken(isSettled: false)
        }
    }

    @Test("PresenceIsPrivate: who is told nothing, or only whether, is told more")
    func presenceLeaks() throws {
        for privacy in [PresenceBook.Privacy.nothing, .nowOnly] {
            let trial = try Trial(of: "I31")
            let (ann, ben) = (trial.ann, trial.ben)
            let link = LinkID(1_000_000)
            let peer = LinkPeer(
                person: ben.identity.person, root: ben.identity.root, device: ben.identity.device,
                identity: ben.identity.operations, handshakeHash: [], isInitiator: true)
            let said = Signal(
                space: trial.trip, stamp: Stamp((World.epoch + trial.world.now) << 16),
                body: .presence(.online, lastSeen: World.epoch))
            let telling = [Effect.send(link, Frame.signal(said.encoded()).encoded())]
            pretend(.linkOpened(link, peer), by: ann, telling, trial)
            try trial.jury.verify()
            #expect(trial.jury.checkCounts["I31"] ?? 0 > 0)
            _ = try trial.world.perform(.setPrivacy(privacy, for: ben.identity.person), on: ann)
            pretend(.madeDurable, by: ann, telling, trial)
            trial.isBroken(isSettled: false)
        }
    }

    @Test("PresenceIsPrivate: who is no contact any more is told")
    func presenceToBlocked() throws {
        let trial = try Trial(of: "I31")
        let (ann, ben) = (trial.ann, trial.ben)
        let link = LinkID(1_000_000)
        let peer = LinkPeer(
            person: ben.identity.person, root: ben.identity.root, device: ben.identity.device,
            identity: ben.identity.operations, handshakeHash: [], isInitiator: true)
        let said = Signal(
            space: trial.trip, stamp: Stamp((World.epoch + trial.world.now) << 16),
            body: .presence(.online, lastSeen: 0))
        _ = try trial.world.perform(.answerContact(ben.identity.person, .block), on: ann)
        try trial.jury.verify()
        pretend(
            .linkOpened(link, peer), by: ann,
            [.send(link, Frame.signal(said.encoded()).encoded())], trial)
        trial.isBroken(isSettled: false)
    }

    @Test("NewcomersGetWhatIsGranted: a newcomer gets more than a group gives, or less")
    func wrongHorizon() throws {
        for givesAll in [false, true] {
            let trial = try Trial(of: "I34")
            let (world, ann) = (trial.world, trial.ann)
            let (cara, dan) = (try world.addNode("cara"), try world.addNode("dan"))
            try world.introduce(ann, cara)
            if givesAll {
                _ = try world.perform(
                    .changeSettings(trial.trip, SpaceSettings(history: .all)), on: ann)
            }
            _ = try world.perform(.addMember(trial.trip, cara.identity.person, .member), on: ann)
            world.run(for: 5_000)
            try trial.jury.verify()
            #expect(trial.jury.checkCounts["I34"] ?? 0 > 0)
            let space = try #require(try ann.store.space(trial.trip))
            let log = try #require(
                try ann.store.logs(in: space.number).first { $0.lane == .content && $0.end > 0 })
            let place = LogPlace(
                device: log.device, lane: log.lane, sequence: log.end - 1, operation: log.tip)
            let newcomer = Newcomer(
                person: dan.identity.person, name: "dan", identity: dan.identity.operations,
                horizon: givesAll ? Horizon([place]) : Horizon())
            try write(
                AddMember(newcomer, role: .member).draft(), by: ann, in: trial.trip, trial)
            trial.isBroken(isSettled: false)
        }
    }

    @Test("NewcomersGetWhatIsGranted: what is older than the group gives is given")
    func tooOld() throws {
        let trial = try Trial(of: "I34")
        let (world, ann) = (trial.world, trial.ann)
        let dan = try world.addNode("dan")
        _ = try world.perform(
            .changeSettings(trial.trip, SpaceSettings(history: .days(1))), on: ann)
        world.run(for: 2 * 86_400_000)
        try trial.jury.verify()
        let newcomer = Newcomer(
            person: dan.identity.person, name: "dan", identity: dan.identity.operations)
        try write(AddMember(newcomer, role: .member).draft(), by: ann, in: trial.trip, trial)
        trial.isBroken(isSettled: false)
    }

    @Test("NewcomersGetWhatIsGranted: what is held beyond a cut is given to nobody, however old")
    func oldBeyondCut() throws {
        let trial = try Trial(of: "I34")
        let (world, ann, ben) = (trial.world, trial.ann, trial.ben)
        let (cara, dan) = (try world.addNode("cara"), try world.addNode("dan"))
        let all = try world.group("all", [ann, ben, cara])
        try world.introduce(ann, dan)
        try ann.perform(.setRole(all, cara.identity.person, .admin))
        try ann.perform(.changeSettings(all, SpaceSettings(history: .days(1))))
        try ben.type("all saw it", in: all)
        world.run(for: 5_000)
        world.partition([ann, ben], [cara])
        try ben.type("only ann saw it", in: all)
        world.run(for: 5_000)
        try cara.perform(.removeMember(all, ben.identity.person))
        world.heal()
        world.run(for: 700_000)
        #expect(try ann.texts(in: all) == ["all saw it"])
        ann.clock = NodeClock(ahead: .seconds(2 * 86_400))
        try ann.perform(.addMember(all, dan.identity.person, .member))
        try trial.jury.verify()
        #expect(trial.jury.checkCounts["I34"] ?? 0 > 0)
    }

    /// The name that is written for the newcomer counts for no more than its clock may lead.
    @Test("NewcomersGetWhatIsGranted: a clock that is years ahead makes nothing old that is new")
    func newUnderFastClock() throws {
        let trial = try Trial(of: "I34")
        let (world, ann) = (trial.world, trial.ann)
        let dan = try world.addNode("dan")
        try world.introduce(ann, dan)
        _ = try world.perform(
            .changeSettings(trial.trip, SpaceSettings(history: .days(1))), on: ann)
        let years: UInt64 = 4 * 365 * 86_400
        ann.clock = NodeClock(ahead: .seconds(Int64(years)))
        _ = try world.perform(.addMember(trial.trip, dan.identity.person, .member), on: ann)
        world.run(for: 5_000)
        try trial.jury.verify()
        #expect(trial.jury.checkCounts["I34"] ?? 0 > 0)
        let newcomer = Newcomer(
            person: dan.identity.person, name: "dan", identity: dan.identity.operations)
        try write(
            AddMember(newcomer, role: .member).draft(), by: ann, in: trial.trip,
            at: World.epoch + world.now + years * 1_000, trial)
        trial.isBroken(isSettled: false)
    }

    @Test("LinksExpire: somebody is let in by a link whose time is over")
    func lateGuest() throws {
        let trial = try Trial(of: "I35")
        let (world, ann) = (trial.world, trial.ann)
        let dan = try world.addNode("dan")
        let expires = World.epoch + world.now + 60_000
        let reply = try world.perform(
            .createGroupInvite(
                trial.trip, secret: [UInt8](repeating: 7, count: 32), role: .member, uses: 1,
                expires: expires), on: ann)
        guard case .operation(let invite) = reply else {
            Issue.record("ann opened no link")
            return
        }
        let newcomer = Newcomer(
            person: dan.identity.person, name: "dan", identity: dan.identity.operations)
        let redeem = Redeem(
            invite: invite, newcomer: newcomer, device: dan.identity.device,
            signature: dan.identity.key.sign(.groupRedeem, []),
            consent: dan.identity.key.sign(.groupConsent, []))
        try write(redeem.draft(), by: ann, in: trial.trip, at: expires - 1, trial)
        try trial.jury.verify(isSettled: true)
        #expect(trial.jury.checkCounts["I35"] ?? 0 > 0)
        try write(redeem.draft(), by: ann, in: trial.trip, at: expires, trial)
        trial.isBroken()
    }

    @Test("QueuesStayBounded: more is kept of a group than anybody need keep who has not accepted")
    func unacceptedGrows() throws {
        let trial = try Trial(of: "I12")
        let (world, ann, ben) = (trial.world, trial.ann, trial.ben)
        _ = try world.perform(.setAdditionPolicy(.ask), on: ben)
        _ = try world.perform(
            .createGroup(name: "unasked", members: [ben.identity.person]), on: ann)
        world.run(for: 5_000)
        try trial.jury.verify()
        let narrow = QueuesStayBounded(unacceptedByteCountMax: 100)
        #expect(throws: Violation.self) { try narrow.looked(at: world) }
    }

    @Test("DeliveredIsHeld: a message is shown as read by somebody who does not hold it")
    func readByWhoLacksIt() throws {
        let trial = try Trial(of: "I17")
        let (world, ann) = (trial.world, trial.ann)
        let cara = try world.addNode("cara")
        try world.introduce(ann, cara)
        _ = try world.perform(.addMember(trial.trip, cara.identity.person, .member), on: ann)
        world.run(for: 5_000)
        world.isolate(cara)
        try ann.type("for ben alone", in: trial.trip)
        world.run(for: 5_000)
        try trial.jury.verify()
        try trial.meddle(with: ann) { store, space in
            let log = try #require(
                try store.logs(in: space.number).first {
                    $0.lane == .content && $0.device == ann.identity.device
                })
            for kind in [MarkKind.read, .delivered] {
                try store.put(
                    Mark(
                        space: space.number, kind: kind,
                        actor: Digest(reinterpreting: cara.identity.device), tag: log.tag,
                        places: PlaceSet(0..<log.end)))
            }
        }
        trial.isBroken(isSettled: false)
    }

    @Test("ReadWasShown: a device says that its person has read what it does not hold")
    func readUnheld() throws {
        let trial = try Trial(of: "I38")
        try trial.ben.read(trial.trip)
        try trial.jury.verify()
        try trial.inventReceipt(at: trial.ben)
        try trial.ben.read(trial.trip)
        trial.isBroken(isSettled: false)
    }

    @Test("ReadWasShown: a device does not say that its person has read what was on the screen")
    func shownUnread() throws {
        let trial = try Trial(of: "I38")
        let (ann, ben) = (trial.ann, trial.ben)
        try ann.type("look at this", in: trial.trip)
        trial.world.run(for: 5_000)
        try ben.read(trial.trip)
        try trial.jury.verify()
        try ann.type("and at this", in: trial.trip)
        trial.world.run(for: 5_000)
        let space = try #require(try ben.store.space(trial.trip))
        let newest = try ben.store.messages(in: space.number, before: nil, limit: 1)
        let shown = ShownMessages(newest.map(\.operation))
        pretend(
            .command(CommandID(1), .markRead(trial.trip, shown)), by: ben,
            [.reply(CommandID(1), .success(.count(1)))], trial)
        trial.isBroken(isSettled: false)
    }

    @Test("ReadWasShown: a device says that its person has read what was on no screen")
    func readUnshown() throws {
        let trial = try Trial(of: "I38")
        let (ann, ben) = (trial.ann, trial.ben)
        for text in ["one", "two", "three"] { try ann.type(text, in: trial.trip) }
        trial.world.run(for: 5_000)
        try ben.read(trial.trip, limit: 1)
        try trial.jury.verify()
        try trial.meddle(with: ben) { store, space in
            let log = try #require(
                try store.logs(in: space.number).first {
                    $0.lane == .content && $0.device == ann.identity.device
                })
            try store.put(
                Mark(
                    space: space.number, kind: .read,
                    actor: Digest(reinterpreting: ben.identity.device), tag: log.tag,
                    places: PlaceSet(0..<log.end)))
        }
        try ben.read(trial.trip, limit: 1)
        trial.isBroken(isSettled: false)
    }
}
