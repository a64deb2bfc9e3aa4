import ParleyConversation
import ParleyNodeCore
import ParleyRoster
import ParleyWire
import Testing

@testable import ParleyCheckers
@testable import ParleyLedger
@testable import ParleySimulation

/// Promises about who is in a space, and who is out.
extension CheckersCanFailTests {
    @Test("RostersAgree: a resolver has forgotten somebody")
    func forgetfulResolver() throws {
        let trial = try Trial(of: "I9")
        let checker = RostersAgree { space, store in
            guard space.kind == .group else {
                return try RosterReader.roster(of: space, in: store)
            }
            let other = try store.spaces().first { $0.kind == .direct }
            return try other.flatMap { try RosterReader.roster(of: $0, in: store) }
        }
        #expect(throws: Violation.self) { try checker.looked(at: trial.world) }
    }

    @Test("RostersAgree: a node that runs goes by what was so before")
    func oldRoster() throws {
        let trial = try Trial(of: "I9")
        let space = try #require(try trial.ann.store.space(trial.trip))
        let old = try RosterReader.roster(of: space, in: trial.ann.store)
        let checker = RostersAgree(heldRoster: { space, _ in space.id == trial.trip ? old : nil })
        try checker.looked(at: trial.world)
        try trial.ann.perform(.removeMember(trial.trip, trial.ben.identity.person))
        #expect(throws: Violation.self) { try checker.looked(at: trial.world) }
    }

    @Test("RostersAgree: what was said in a group is sent to a stranger")
    func servedToStranger() throws {
        let trial = try Trial(of: "I9")
        try trial.serve(.content, to: try trial.world.addNode("cara"))
        trial.isBroken(isSettled: false)
    }

    @Test("RostersAgree: who is in a group is told to a stranger")
    func rosterServedToStranger() throws {
        let trial = try Trial(of: "I9")
        try trial.serve(.control, to: try trial.world.addNode("cara"))
        trial.isBroken(isSettled: false)
    }

    @Test("RostersAgree: who was taken out is sent what is written since")
    func servedToRemoved() throws {
        let trial = try Trial(of: "I9")
        try trial.ann.perform(.removeMember(trial.trip, trial.ben.identity.person))
        try trial.ann.type("now that we are alone", in: trial.trip)
        try trial.serve(.content, to: trial.ben, isLast: true)
        trial.isBroken(isSettled: false)
    }

    @Test("RostersAgree: who was taken out is told of who came since")
    func rosterServedToRemoved() throws {
        let trial = try Trial(of: "I9")
        let cara = try trial.world.addNode("cara")
        try trial.world.introduce(trial.ann, cara)
        try trial.ann.perform(.removeMember(trial.trip, trial.ben.identity.person))
        trial.world.run(for: 5_000)
        try trial.jury.verify()
        try trial.ann.perform(.addMember(trial.trip, cara.identity.person, .member))
        try trial.serve(.control, to: trial.ben, isLast: true)
        trial.isBroken(isSettled: false)
    }

    @Test("RostersAgree: a newcomer is sent what came before, though the group gives nothing")
    func servedBelowHorizon() throws {
        let trial = try Trial(of: "I9")
        let cara = try trial.world.addNode("cara")
        try trial.world.introduce(trial.ann, cara)
        try trial.ann.perform(.addMember(trial.trip, cara.identity.person, .member))
        trial.world.run(for: 5_000)
        try trial.jury.verify()
        try trial.serve(.content, to: cara)
        trial.isBroken(isSettled: false)
    }

    @Test("SecretsStayIn: who was taken out has the keys of the epoch that was made then")
    func keysOutside() throws {
        let trial = try Trial(of: "I16")
        try trial.removeBen()
        let (store, space) = (trial.ann.store, try #require(try trial.ann.store.space(trial.trip)))
        let newest = try #require(
            try RosterReader.judge(of: space, in: store).graph.epochs.last
        ).id.bytes
        let keys = try #require(try store.secret(.epochKeys, newest, in: space.number))
        try trial.meddle(with: trial.ben) { store, space in
            try store.setSecret(keys, .epochKeys, newest, in: space.number)
        }
        trial.isBroken(isSettled: false)
    }

    @Test("SecretsStayIn: who was taken out holds what was written since")
    func wordsOutside() throws {
        let trial = try Trial(of: "I16")
        try trial.removeBen()
        let space = try #require(try trial.ann.store.space(trial.trip))
        let log = try #require(
            try trial.ann.store.logs(in: space.number).first {
                $0.lane == .content && $0.device == trial.ann.identity.device
            })
        let last = try #require(try trial.ann.store.operation(at: log.end - 1, in: log.number))
        try trial.meddle(with: trial.ben) { store, space in
            var own = try #require(try store.log(log.tag, in: space.number))
            _ = try store.insert(
                [VerifiedOperation(stored: last, tag: log.tag)], in: own.number)
            own.spans = log.spans
            try store.update(own)
        }
        trial.isBroken(isSettled: false)
    }

    /// Ben was taken out and let in again, and given what had been written meanwhile. Everybody who
    /// knows that has left since; ann's phone was revoked and has not heard of it.
    @Test("SecretsStayIn: what is judged is not what a revoked device takes for the group")
    func revokedReader() throws {
        let trial = try Trial(of: "I16")
        let (world, ann, ben, trip) = (trial.world, trial.ann, trial.ben, trial.trip)
        let phone = try world.addDevice("phone", of: ann)
        try ann.perform(.changeSettings(trip, SpaceSettings(history: .all)))
        world.run(for: 30_000)
        try trial.removeBen()
        world.partition([phone], [ann, ben])
        try ann.perform(.revokeDevice(phone.identity.device, root: nil))
        try ann.perform(.addMember(trip, ben.identity.person, .member))
        try ann.perform(.setRole(trip, ben.identity.person, .owner))
        world.run(for: 5_000)
        #expect(try ben.texts(in: trip).contains("now that we are alone"))
        #expect(try phone.texts(in: trip).contains("now that we are alone"))
        try ann.perform(.leave(trip))
        world.run(for: 5_000)
        try ben.perform(.leave(trip))
        world.run(for: 5_000)
        try trial.jury.verify()
    }

    /// Ben had not heard that he was out when he accepted, and ann has never heard that he did.
    @Test("RostersAgree: own devices are told that their person accepted, whoever has not heard so")
    func acceptedUnheard() throws {
        let world = World(seed: 5)
        world.contactsMayAdd = false
        let (ann, ben) = (try world.addNode("ann"), try world.addNode("ben"))
        let jury = Jury(of: world, only: ["I9"])
        let trip = try world.group("trip", [ann, ben])
        world.run(for: 5_000)
        world.cut(ann, ben)
        try ben.perform(.acceptInvitation(trip))
        try ann.perform(.removeMember(trip, ben.identity.person))
        world.run(for: 5_000)
        world.heal()
        world.run(for: 400_000)
        let phone = try world.addDevice("phone", of: ben)
        world.run(for: 30_000)
        #expect(try phone.store.space(trip) != nil, "it was told")
        try jury.verify()
    }

    @Test("SecretsStayIn: who is in has lost what opens the epoch of now")
    func keysLost() throws {
        let trial = try Trial(of: "I16")
        try trial.meddle(with: trial.ben) { store, space in
            for (name, _) in try store.secrets(.epochKeys, in: space.number) {
                try store.setSecret(nil, .epochKeys, name, in: space.number)
            }
        }
        trial.isBroken()
    }

    @Test("NaiveModelAgrees: a message is shown whose author had been taken out")
    func removedIsShown() throws {
        let trial = try Trial(of: "I14")
        let cara = try trial.world.addNode("cara")
        let all = try trial.world.group("all", [trial.ann, trial.ben, cara])
        trial.world.partition([trial.ann], [trial.ben, cara])
        try trial.ben.type("still here", in: all)
        trial.world.run(for: 5_000)
        let space = try #require(try cara.store.space(all))
        let row = try #require(
            try cara.store.messages(in: space.number, before: nil, limit: 1).first)
        try trial.ann.perform(.removeMember(all, trial.ben.identity.person))
        trial.world.heal()
        trial.world.run(for: 400_000)
        #expect(try !cara.texts(in: all).contains("still here"))
        try trial.jury.verify(isSettled: true)
        try cara.store.begin(.full)
        try cara.store.insert(row)
        try cara.store.commit()
        trial.isBroken()
    }
}
