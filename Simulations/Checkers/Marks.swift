import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleySimulation
import ParleyWire

/// What happened at least once: a swarm in which something interesting never happened has not
/// tried it, however many promises it kept.
public struct Marks {
    /// How often, by name.
    public private(set) var counts: [String: Int] = [:]

    /// Every mark that a swarm must hit.
    ///
    /// Among them is each kind of operation, by its number: a feature that no swarm ever used would
    /// be judged by nobody.
    public static let all: [String] = [
        "acknowledged", "dial-failed", "died", "edited-what-was-deleted", "hole-asked-for",
        "hung-up-duplicate", "imported-again", "introduced", "link-closed",
        "kind-1", "kind-32", "kind-33", "kind-34", "kind-64", "kind-65", "kind-66", "kind-67",
        "kind-68",
        "fork-proven", "kind-2", "kind-3", "kind-4", "kind-5", "kind-9", "kind-15", "kind-37",
        "kind-38", "kind-112", "kind-113", "lost-power", "refused-while-rejoining", "rejoined",
        "step-undone",
    ]

    /// What a swarm must hit beside these in whose worlds people pass on, star and pin messages, and mention each other.
    public static let ofCuration: [String] = [
        "kind-39", "kind-40", "kind-41", "kind-42", "kind-43", "kind-44", "kind-47", "kind-48",
        "kind-69", "kind-70", "mentioned",
    ]

    /// What a swarm must hit beside these in whose worlds people do something together.
    public static let ofTeamwork: [String] = [
        "kind-96", "kind-97", "kind-98", "kind-99", "kind-100", "kind-101",
        "kind-102", "kind-103", "kind-104", "kind-120", "kind-121", "kind-122",
    ]

    private var isRejoining: [DeviceID: Bool] = [:]
    private var failedSteps: [DeviceID: Int] = [:]

    /// Nothing happened yet.
    public init() {}

    /// Counts what this step shows.
    mutating func saw(_ step: StepReport) {
        // A step is lost by a death as well: only the node counts what its store undid.
        let failures = step.node.failedStepCount
        if failures > failedSteps[step.node.identity.device] ?? 0 { hit("step-undone") }
        failedSteps[step.node.identity.device] = failures
        switch step.input {
        case .dialFailed: hit("dial-failed")
        case .linkClosed: hit("link-closed")
        case .timer(.waiting): hit("waited-long-enough")
        case .relay(_, .opened): hit("relay-reached")
        case .started, .linkOpened, .frame, .networkChanged, .sighted, .timer, .command,
            .madeDurable, .relay, .roomOn, .fileKept:
            break
        }
        for effect in step.effects { saw(effect) }
        let isRejoining = step.node.core.rejoin != nil
        if self.isRejoining[step.node.identity.device] == true, !isRejoining { hit("rejoined") }
        self.isRejoining[step.node.identity.device] = isRejoining
    }

    private mutating func saw(_ effect: Effect) {
        switch effect {
        case .hangUp(_, .duplicate): hit("hung-up-duplicate")
        case .hangUp(_, .silent): hit("hung-up-silent")
        case .hangUp(_, .breach): hit("hung-up-breach")
        case .hangUp(_, .stranger): hit("hung-up-stranger")
        case .reply(_, .failure(.rejoining)): hit("refused-while-rejoining")
        case .reply(_, .failure(.deleted)): hit("edited-what-was-deleted")
        case .reply(_, .success(.imported(_, let known, _))) where known > 0: hit("imported-again")
        case .send(_, let bytes): sent(bytes.first)
        case .changed(let changes) where changes.contains(where: \.isMention): hit("mentioned")
        case .hangUp, .admitted, .commitFully, .dial, .timer, .changed, .linksChanged, .reply,
            .renewIdentity, .forgetKeys, .callRelay, .askRelay, .leaveRelay, .call, .tellRoom,
            .removeFile, .keepFile:
            break
        }
    }

    /// The first byte of a frame is its type. Source: Protocol/06-sync.md, "Frames".
    private mutating func sent(_ type: UInt8?) {
        switch type {
        case 3: hit("hole-asked-for")
        case 5: hit("acknowledged")
        case 19: hit("introduced")
        default: break
        }
    }

    /// Adds what nodes turned away, which each of them counts, and what kinds they hold.
    mutating func settle(_ world: World) throws {
        for node in world.honestNodes {
            if try !node.store.forks().isEmpty { hit("fork-proven") }
            for row in stride(from: 1, through: node.store.operationCount, by: 1) {
                guard let stored = try node.store.operation(OperationNumber(Int64(row))) else {
                    continue
                }
                hit("kind-\(stored.operation.header.kind.rawValue)")
            }
            for (name, _) in try node.store.values(.refusal) {
                hit("refused-" + String(decoding: name, as: UTF8.self))
            }
        }
    }

    /// Counts one death.
    mutating func died(losingPower: Bool) {
        hit(losingPower ? "lost-power" : "died")
    }

    private mutating func hit(_ name: String) { counts[name, default: 0] += 1 }
}

extension ViewChange {
    fileprivate var isMention: Bool { if case .mention = self { true } else { false } }
}
