import ParleyNodeCore
public import ParleySignalling
import ParleyWire

/// One end of a connection for sound and pictures.
struct SoundEnd: Hashable {
    let call: CallID
    /// Whose program it is.
    let node: Int
    /// With whose it is connected.
    let peer: Int

    /// The other end.
    var other: SoundEnd { SoundEnd(call: call, node: peer, peer: node) }
}

/// What a program for sound and pictures knows of one end.
struct SoundState {
    /// The node's life in which it began.
    var life: Int
    /// Whether something comes through.
    var isUp = false
}

/// Something that a program for sound and pictures does.
enum SoundOccurrence {
    /// It tells its node something.
    case tells(MediaNews, SoundEnd, life: Int)
    /// It looks whether anything comes through.
    case listens(SoundEnd, life: Int)
}

// Programs for sound and pictures: they say what they are asked for after a moment, and something
// comes through as long as both ends are there and reach each other.
extension World {
    /// How long a program takes for a description, and between two looks, in milliseconds.
    private static let describingTime: UInt64 = 30
    private static let listeningTime: UInt64 = 1_000

    /// What a program says of itself in every description.
    public static func description(of call: CallID) -> String { "v=0 sound of \(call)" }

    /// A node's program is given an order, where there are programs.
    func order(_ output: Calls.Output, at index: Int) {
        guard hasMedia, case .media(let device, let order) = output.order,
            let peer = nodes.firstIndex(where: { $0.identity.device == device })
        else { return }
        let end = SoundEnd(call: output.call, node: index, peer: peer)
        switch order {
        case .makeOffer: tell(.offer(Self.description(of: output.call)), at: end)
        case .answer:
            tell(.answer(Self.description(of: output.call)), at: end)
            open(end)
        case .take: open(end)
        case .add: break
        case .close: sounds[end] = nil
        }
    }

    private func tell(_ news: MediaNews, at end: SoundEnd) {
        let life = nodes[end.node].life
        events.insert(.sound(.tells(news, end, life: life)), at: now + Self.describingTime)
    }

    private func open(_ end: SoundEnd) {
        let life = nodes[end.node].life
        guard sounds[end]?.life != life else { return }
        sounds[end] = SoundState(life: life)
        events.insert(.sound(.listens(end, life: life)), at: now + 2 * Self.describingTime)
    }

    /// A program's moment has come.
    func happens(_ occurrence: SoundOccurrence) {
        switch occurrence {
        case .tells(let news, let end, let life):
            guard nodes[end.node].life == life else { return }
            offer(news, at: end)
        case .listens(let end, let life):
            guard nodes[end.node].life == life, let state = sounds[end], state.life == life else {
                if sounds[end]?.life == life { sounds[end] = nil }
                return
            }
            let isUp = comesThrough(end)
            if isUp != state.isUp {
                sounds[end]?.isUp = isUp
                offer(isUp ? .connected : .disconnected, at: end)
            }
            guard sounds[end] != nil else { return }
            events.insert(.sound(.listens(end, life: life)), at: now + Self.listeningTime)
        }
    }

    private func comesThrough(_ end: SoundEnd) -> Bool {
        guard let other = sounds[end.other], other.life == nodes[end.peer].life else {
            return false
        }
        return !nodes[end.peer].isDown && !isCut(end.node, end.peer)
            && !isBlocked(from: end.node, to: end.peer)
            && !isBlocked(from: end.peer, to: end.node)
    }

    private func offer(_ news: MediaNews, at end: SoundEnd) {
        let id = CommandID(nextNumber)
        nextNumber += 1
        let device = nodes[end.peer].identity.device
        offer(.command(id, .act(end.call, .news(device, news))), to: end.node)
        // Whether the call is still there is not for a program to say.
        nodes[end.node].replies.removeValue(forKey: id)
    }
}
