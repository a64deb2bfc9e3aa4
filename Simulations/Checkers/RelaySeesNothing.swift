import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleySealing
import ParleySimulation
import ParleyWire

/// I18: what a relay is given and keeps is readable by nobody, and names nobody; and a message is
/// shown as lying on a relay only where a relay answered after it was written, and has not told since
/// that it lost what it had.
final class RelaySeesNothing: Checker {
    static let invariant = "I18"
    static let needsRelay = true
    private(set) var checkCount = 0
    private var words = ByteSearch()
    private var named: Set<DeviceID> = []

    private struct Place: Hashable {
        let device: DeviceID
        let tag: LogTag
        let sequence: UInt64
    }

    private var stepCount: UInt64 = 0
    /// At which step a message was reported as saved.
    private var saved: [Place: UInt64] = [:]
    /// What a device was told by a relay.
    private struct Told {
        /// Its newest start.
        var start: UInt64
        /// At which steps it said that it keeps something, and under which counters.
        var stored: [Answer] = []
        /// What of that it has told to have lost since.
        var lost: [Answer] = []
    }

    private struct Answer {
        var step: UInt64
        var counter: UInt64
    }

    private var told: [DeviceID: [NoiseKey: Told]] = [:]

    func observed(_ step: StepReport) throws {
        stepCount += 1
        let node = step.node
        learn(node)
        switch step.input {
        case .command(_, let command): try learn(command, step)
        case .relay(let relay, let news): learn(news, of: relay, step)
        default: break
        }
        for case .askRelay(_, let request) in step.effects {
            switch request.action {
            case .put(let bytes), .volatile(_, let bytes):
                try search(bytes, "\(node.name) gives a relay")
            case .open, .get, .subscribe, .unsubscribe, .acknowledge, .pipe: break
            }
        }
    }

    private func learn(_ news: RelayNews, of relay: NoiseKey, _ step: StepReport) {
        let device = step.node.identity.device
        switch news {
        // Who dies over it is told again.
        case .opened(let welcome) where !step.isLost:
            guard let start = welcome.starts.first?.id else { return }
            let known = told[device]?[relay] ?? Told(start: start)
            var now = Told(start: start, lost: known.lost)
            for answer in known.stored {
                if welcome.hasLost(answer.counter, toldIn: known.start) {
                    now.lost.append(answer)
                } else {
                    now.stored.append(answer)
                }
            }
            told[device, default: [:]][relay] = now
        case .answered(_, .stored(let counter)):
            told[device]?[relay]?.stored.append(Answer(step: stepCount, counter: counter))
        default: break
        }
    }

    /// Names that no relay is to see: of devices, persons and conversations.
    private func learn(_ node: SimulatedNode) {
        guard named.insert(node.identity.device).inserted else { return }
        words.add(node.identity.device.bytes)
        words.add(node.identity.person.bytes)
    }

    private func learn(_ command: Command, _ step: StepReport) throws {
        switch command {
        case .send(let space, let messages, _), .sendOnce(let space, let messages, _, _):
            words.add(space.bytes)
            for message in messages { words.add(Array(message.text.utf8)) }
        case .edit(_, let text, _): words.add(Array(text.utf8))
        case .createGroup(let name, _), .rename(_, let name): words.add(Array(name.utf8))
        case .describe(_, let text) where !text.isEmpty: words.add(Array(text.utf8))
        default: break
        }
        // An edit or a reaction answers with the message that it is about.
        guard !step.isLost, case .send = command else { return }
        for case .reply(_, .success(.messages(let numbers))) in step.effects {
            for number in numbers {
                guard let operation = try step.node.store.operation(number),
                    let log = try step.node.store.log(operation.log)
                else { continue }
                let place = Place(
                    device: step.node.identity.device, tag: log.tag,
                    sequence: operation.sequence)
                saved[place] = stepCount
            }
        }
    }

    private func search(_ bytes: [UInt8], _ who: String) throws {
        checkCount += 1
        guard words.firstHit(in: bytes) == nil else {
            throw violation("\(who) something that can be read, or names somebody")
        }
    }

    /// Who forgets what a relay told them is told again, and believes until then what they know.
    private func forget(_ device: DeviceID) {
        told[device] = told[device]?.mapValues {
            Told(start: $0.start, stored: $0.lost + $0.stored)
        }
    }

    func died(_ node: SimulatedNode, losingPower: Bool) throws {
        if losingPower { forget(node.identity.device) }
    }

    func wasSetBack(_ node: SimulatedNode) {
        forget(node.identity.device)
        // Places are used again.
        saved = saved.filter { $0.key.device != node.identity.device }
    }

    func looked(at world: World) throws {
        for node in world.honestNodes {
            for space in try node.store.spaces() {
                // Who is not in it any more sees nothing.
                guard let messages = try? node.messages(in: space.id, limit: 40) else { continue }
                for message in messages where message.state == .relayed {
                    checkCount += 1
                    let place = Place(
                        device: node.identity.device, tag: message.reference.tag,
                        sequence: message.reference.sequence)
                    guard let written = saved[place] else { continue }
                    let answers = told[node.identity.device]?.values.flatMap(\.stored)
                    guard answers?.contains(where: { $0.step > written }) == true else {
                        throw violation(
                            "\(node.name) shows a message as lying on a relay, and none has "
                                + "answered since it was written, or since it lost all")
                    }
                }
            }
        }
    }

    func settled(_ world: World) throws {
        for relay in world.relays {
            for bytes in relay.contents { try search(bytes, "\(relay.name) keeps") }
        }
        try looked(at: world)
    }
}
