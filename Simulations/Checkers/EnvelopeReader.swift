import ParleyLedger
import ParleyNodeCore
import ParleySealing
import ParleySimulation
import ParleyWire

/// What a node put into a shared mailbox, opened.
struct OpenedEnvelope {
    /// The operation of the epoch that it is sealed under.
    let epoch: OperationID
    /// The step of the sender's chain.
    let step: UInt32
    /// The nonce beside the key of that step.
    let nonce: [UInt8]
    /// The bytes under the seal.
    let content: [UInt8]

    /// The frames among the bytes; none where they cannot be read.
    ///
    /// Read here and not by the node's own reader. Source: `Protocol/06-relay.md`, "What envelopes
    /// carry".
    var frames: [Frame] {
        var reader = ByteReader(content)
        var frames: [Frame] = []
        do {
            guard try reader.byte() == 1 else { return [] }
            while reader.remaining > 0 {
                let count = try reader.count("frame", atMost: Limits.envelopeByteCountMax)
                guard let frame = try Frame.decode(Array(try reader.slice(count))) else { continue }
                frames.append(frame)
            }
        } catch {
            // What cannot be read says nothing.
        }
        return frames
    }
}

/// With what an envelope was sealed.
struct SealedStep {
    /// The operation of its epoch.
    let epoch: OperationID
    /// Whose epoch it is.
    let space: SpaceID
    /// Who sealed it.
    let device: DeviceID
    /// The step of its chain.
    let step: UInt32
}

/// Opens all envelopes of a world with the seeds of its epochs, which no node keeps.
///
/// Only nodes with stores in memory have their seeds noted: in other worlds it opens nothing.
final class EnvelopeReader {
    private struct Author: Hashable {
        let epoch: OperationID
        let device: DeviceID
    }

    private struct Shelf {
        let epoch: OperationID
        let seed: EpochSeed
        let keys: EpochKeys
        var days: Set<UInt32> = []
    }

    /// The first byte of what is sealed under an epoch. Source: Protocol/09-epochs.md, "Envelopes".
    private static let kind: UInt8 = 2

    private var shelves: [OperationID: Shelf] = [:]
    private var mailboxes: [MailboxID: OperationID] = [:]
    /// Chains as far as envelopes were opened, which go in order.
    private var chains: [Author: Chain] = [:]
    /// What envelopes were sealed with, by their names.
    private var steps: [Digest: SealedStep] = [:]
    private static let stepCountMax = 8_192
    /// What was opened in the last step: several checkers ask for the same.
    private var opened: [[UInt8]: OpenedEnvelope?] = [:]
    private static let openedCountMax = 64

    /// What a node puts into shared mailboxes in this step.
    func envelopes(of step: StepReport) -> [OpenedEnvelope] {
        step.effects.compactMap { effect in
            guard case .askRelay(_, let request) = effect,
                case .put(let bytes) = request.action, bytes.first == Self.kind,
                let world = step.node.world
            else { return nil }
            return open(bytes, in: request.mailbox, by: step.node.identity.device, world)
        }
    }

    private func open(
        _ bytes: [UInt8], in mailbox: MailboxID, by device: DeviceID, _ world: World
    ) -> OpenedEnvelope? {
        if let known = opened[bytes] { return known }
        if opened.count >= Self.openedCountMax { opened = [:] }
        let shelf = shelf(of: mailbox, world)
        let envelope = shelf.flatMap { open(bytes, in: mailbox, of: $0, by: device, world) }
        opened[bytes] = .some(envelope)
        if let shelf, let envelope {
            if steps.count >= Self.stepCountMax { steps = [:] }
            let name: Digest = digest(.relayBlob, bytes)
            steps[name] = SealedStep(
                epoch: shelf.epoch, space: shelf.seed.space, device: device, step: envelope.step)
        }
        return envelope
    }

    /// With what an envelope was sealed that a node put into a shared mailbox lately, or nil.
    func sealed(_ bytes: [UInt8]) -> SealedStep? {
        if steps.isEmpty { return nil }
        let name: Digest = digest(.relayBlob, bytes)
        return steps[name]
    }

    /// The space that a shared mailbox of today or yesterday belongs to; nil of any other mailbox.
    func space(of mailbox: MailboxID, _ world: World) -> SpaceID? {
        shelf(of: mailbox, world)?.seed.space
    }

    /// Whether a chain of a device opens an envelope that lay in a shared mailbox.
    func opens(
        _ bytes: [UInt8], in mailbox: MailboxID, of device: DeviceID, _ chain: Chain,
        _ world: World
    ) -> Bool {
        guard let shelf = shelf(of: mailbox, world) else { return false }
        let place = EnvelopePlace(space: shelf.seed.space, epoch: shelf.epoch, mailbox: mailbox)
        var chain = chain
        // That it does not is what is hoped for, for whatever reason.
        guard let envelope = try? Envelope(bytes, at: place, keys: shelf.keys) else { return false }
        let wall = World.epoch + world.now
        // As above.
        return (try? envelope.open(from: device, chain: &chain, now: wall)) != nil
    }

    private func open(
        _ bytes: [UInt8], in mailbox: MailboxID, of shelf: Shelf, by device: DeviceID,
        _ world: World
    ) -> OpenedEnvelope? {
        let place = EnvelopePlace(space: shelf.seed.space, epoch: shelf.epoch, mailbox: mailbox)
        let wall = World.epoch + world.now
        let author = Author(epoch: shelf.epoch, device: device)
        // What does not open was sealed by nobody who may.
        guard let envelope = try? Envelope(bytes, at: place, keys: shelf.keys) else { return nil }
        if let known = chains[author], let read = read(envelope, of: author, with: known, wall) {
            return read
        }
        // The first of its author, or a step that the chain has gone past: from the beginning.
        return read(envelope, of: author, with: shelf.seed.chain(of: device), wall)
    }

    /// Opens an envelope with a chain that has not reached its step yet.
    private func read(
        _ envelope: Envelope, of author: Author, with chain: Chain, _ wall: UInt64
    ) -> OpenedEnvelope? {
        var moved = chain
        // It may be at a step that this chain has gone past.
        guard let content = try? envelope.open(from: author.device, chain: &moved, now: wall),
            // A kept key of a step that was jumped over does not tell which one.
            moved.step > chain.step
        else { return nil }
        if moved.step > chains[author]?.step ?? 0 { chains[author] = moved }
        return OpenedEnvelope(
            epoch: author.epoch, step: moved.step - 1, nonce: envelope.nonce, content: content)
    }

    /// The epoch whose mailbox this is; of a relay's day, or of the day before.
    private func shelf(of mailbox: MailboxID, _ world: World) -> Shelf? {
        if let epoch = mailboxes[mailbox] { return shelves[epoch] }
        let today = UInt32((World.epoch + world.now) / 86_400_000)
        // What is noted of one has nothing to do with the next: the order cannot be seen.
        for (epoch, seed) in world.seedBook.seeds {
            var shelf = shelves[epoch] ?? Shelf(epoch: epoch, seed: seed, keys: seed.keys)
            for day in [today - 1, today] where shelf.days.insert(day).inserted {
                for relay in world.relays {
                    let day = RelayDay(clamping: UInt64(day))
                    mailboxes[shelf.keys.drop(at: relay.key, ofDay: day).id] = epoch
                }
            }
            shelves[epoch] = shelf
        }
        return mailboxes[mailbox].flatMap { shelves[$0] }
    }
}
