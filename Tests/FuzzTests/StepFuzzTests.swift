import Foundation
import ParleyConversation
import ParleyFiles
import ParleyLedger
import ParleyNodeCore
import ParleyWire
import Testing

@testable import ParleySimulation

/// Everything that reaches a node, in any order, with numbers at their bounds.
///
/// A trap ends the process. The line that was printed last then names the life in which it came:
/// `PARLEY_FUZZ_SEED` and `PARLEY_FUZZ_LIFE` begin with it again, and `PARLEY_FUZZ_TRACE` names each
/// input.
@Suite("A node's step under hostile inputs")
struct StepFuzzTests {
    /// With what is asked here, too, and without: then Ann and Ben must still reach each other.
    @Test(
        "Attack 60: no input ends a node, keeps it from its work or costs much",
        arguments: [false, true])
    func steps(isLocal: Bool) throws {
        let clock = ContinuousClock()
        let end = clock.now + .seconds(FuzzPlan.seconds)
        var (life, inputCount, effectCount, byteCount) = (FuzzPlan.life, 0, 0, 0)
        var slowest = (time: Duration.zero, life: life, place: 0)
        repeat {
            let seed = FuzzPlan.seed << 20 | UInt64(isLocal ? 1 : 0) << 19 | life
            FuzzPlan.tell("steps, local \(isLocal): PARLEY_FUZZ_LIFE=\(life)")
            let world = try HostileWorld(seed: seed)
            for place in 0..<(FuzzPlan.isBrief ? 40 : 400)
            where inputCount == 0 || clock.now < end {
                let start = FuzzPlan.processorTime
                try world.advance(isLocal: isLocal)
                let time = FuzzPlan.processorTime - start
                if time > slowest.time { slowest = (time, life, place) }
                inputCount += 1
            }
            if !isLocal { try world.expectService("life \(life)") }
            effectCount = max(effectCount, world.effectCount)
            byteCount = max(byteCount, world.effectByteCount)
            life += 1
        } while clock.now < end
        #expect(effectCount <= HostileWorld.effectCountMax)
        #expect(byteCount <= HostileWorld.effectByteCountMax)
        FuzzPlan.tell(
            "steps, local \(isLocal), seed \(FuzzPlan.seed): \(inputCount) inputs, at most "
                + "\(effectCount) effects and \(byteCount) bytes of one, slowest \(slowest.time) "
                + "of a processor: input \(slowest.place) of life \(slowest.life)")
    }
}

extension HostileWorld {
    /// Whatever that was, the two who are honest still reach each other wherever both are, see the
    /// same of what they wrote, and have each other's files.
    func expectService(_ words: String) throws {
        world.heal()
        world.run(for: 300_000)
        let spaces = try spaces()
        let file = SampleFile(byteCount: 100_000, seed: 99)
        try file.put(into: ben.store.blobs)
        for (place, space) in spaces.enumerated() {
            try world.type("from ben \(place)", on: ben, in: space)
            try world.type("from ann \(place)", on: ann, in: space)
            let message = TextMessage(text: "", files: [file.attachment])
            _ = try world.perform(.send(space, [message], replyingTo: nil), on: ben)
        }
        world.run(for: 600_000)
        let isHeld = try ann.store.blobs.heldBlob(file.blob)?.chunks.isWhole == true
        #expect(isHeld || spaces.isEmpty, "\(words), a file of Ben's")
        for (place, space) in spaces.enumerated() {
            let seen = try honestTexts(ann, in: space)
            let expected = try honestTexts(ben, in: space)
            // Where somebody lets messages disappear, one's own go once the other has them.
            let isServed =
                try ["from ben \(place)", "from ann \(place)"].allSatisfy(expected.contains)
                || lastTextsDisappear(in: space)
            let kind = space == group ? "the group" : "a conversation of two"
            #expect(isServed && seen == expected, "\(words), \(kind)")
        }
    }

    /// What Ann and Ben have written, on these very devices, as one of them sees it, and will go on seeing. What
    /// liars wrote, be it the same words, may differ where they wrote two histories.
    private func honestTexts(_ node: SimulatedNode, in space: SpaceID) throws -> [String] {
        let logs = honestLogs(in: space)
        return try node.messages(in: space)
            .filter { logs.contains($0.reference.tag) && $0.lifetime == nil }
            .map { $0.text ?? "(deleted)" }
    }

    private func honestLogs(in space: SpaceID) -> [LogTag] {
        [ann, ben].map {
            LogTag(OperationHash.log(space: space, device: $0.identity.device, lane: .content))
        }
    }

    /// Whether the last messages of Ann and of Ben were written to disappear, and both hold them.
    private func lastTextsDisappear(in space: SpaceID) throws -> Bool {
        try [ann, ben].allSatisfy { node in
            guard let record = try node.store.space(space) else { return false }
            return try honestLogs(in: space).allSatisfy { tag in
                guard let log = try node.store.log(tag, in: record.number), log.end > 0 else {
                    return false
                }
                let last = try node.store.header(at: log.end - 1, in: log.number)
                return last?.header.kind == .disappearingText
            }
        }
    }
}

extension FuzzPlan {
    /// The life to begin with.
    static let life =
        ProcessInfo.processInfo.environment["PARLEY_FUZZ_LIFE"].flatMap(UInt64.init) ?? 0

    /// What this thread used of a processor: what else runs on the machine does not count.
    static var processorTime: Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    /// Whether nobody asked for more than a moment.
    static var isBrief: Bool { seconds < 1 }

    private static let traces = ProcessInfo.processInfo.environment["PARLEY_FUZZ_TRACE"] != nil

    /// Names one input, where `PARLEY_FUZZ_TRACE` asks for each.
    static func trace(_ words: @autoclosure () -> String) {
        guard traces else { return }
        print("  " + words())
        fflush(nil)
    }

    /// Says what is tried, before it is: a trap leaves nothing else.
    static func tell(_ line: String) {
        guard !isBrief else { return }
        print(line)
        fflush(nil)
    }
}
