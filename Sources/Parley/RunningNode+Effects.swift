import Logging
import ParleyConversation
import ParleyFiles
import ParleyLedger
import ParleyNodeCore
import ParleyStorage
import ParleyWire

/// Performing the effects of a step, and what happens when a step fails.
extension RunningNode {
    func perform(_ effects: [Effect]) {
        var frames: [LinkID: [[UInt8]]] = [:]
        var changes: [ViewChange] = []
        var linksChanged = false
        var told: [LinkID] = []
        for effect in effects {
            switch effect {
            case .commitFully: break
            case .call(let output): media?.handle(output)
            case .send(let link, let bytes): frames[link, default: []].append(bytes)
            case .hangUp(let link, _):
                if let last = frames.removeValue(forKey: link) { outlet?.send(last, on: link) }
                outlet?.hangUp(link)
            case .dial(let target): outlet?.dial(target)
            case .timer(let timer, let time): set(timer, at: time)
            case .changed(let more): changes += more
            case .linksChanged: linksChanged = true
            case .admitted(let link): outlet?.markKnown(link)
            case .forgetKeys: renewal.want()
            case .tellRoom(let link): told.append(link)
            case .removeFile(let blob): removeFile(blob)
            case .keepFile(let blob): keepFile(blob)
            case .renewIdentity(let operations): outlet?.renewIdentity(operations)
            case .callRelay(let relay, let addresses): outlet?.callRelay(relay, at: addresses)
            case .askRelay(let relay, let request): outlet?.askRelay(relay, request)
            case .leaveRelay(let relay): outlet?.leaveRelay(relay)
            case .reply(let id, let result): reply(id, result)
            }
        }
        for link in frames.keys.sorted() {
            outlet?.send(frames[link] ?? [], on: link)
        }
        for link in told { outlet?.tellRoom(on: link) }
        guard !changes.isEmpty || linksChanged else { return }
        for listener in listeners.all { listener(changes, linksChanged) }
    }

    /// Removes a sealed file, unless it is needed by now or a message is about to name it.
    func removeFile(_ blob: BlobID) {
        guard let store = opened, stagedFiles[blob] == nil else { return }
        do {
            let isUnneeded = try store.reading { try HeldFile.isUnneeded(blob, in: store) }
            if isUnneeded { try store.blobs.removeBlob(blob) }
        } catch {
            // It is tried again at the next start.
            logger.warning(
                "a file that nobody needs was not removed", metadata: ["why": "\(error)"])
        }
    }

    private func reply(_ id: CommandID, _ result: Result<CommandReply, CommandRefusal>) {
        guard let continuation = waiting.removeValue(forKey: id) else { return }
        switch result {
        case .success(let reply): continuation.resume(returning: reply)
        case .failure(let refusal): continuation.resume(throwing: NodeError(refusal))
        }
    }

    private func set(_ timer: TimerID, at time: UInt64) {
        offer(.timer(timer), in: time > now.monotonic ? time - now.monotonic : 0)
    }

    /// The stored data stays, but may not be announced: nothing leaves that a crash could undo.
    /// Links end, and the next ones find out again what each side lacks.
    func abandon(_ effects: [Effect]) {
        for effect in effects {
            switch effect {
            case .send(let link, _), .hangUp(let link, _): outlet?.hangUp(link)
            case .reply(let id, _):
                waiting.removeValue(forKey: id)?.resume(
                    throwing: NodeError(
                        "storage",
                        "The disk failed: this may not have been saved."))
            case .timer(let timer, let time): set(timer, at: time)
            case .dial(let target): outlet?.dial(target)
            // The core knows it already: new links must not show old state.
            case .renewIdentity(let operations): outlet?.renewIdentity(operations)
            case .forgetKeys: renewal.want()
            case .callRelay(let relay, let addresses): outlet?.callRelay(relay, at: addresses)
            case .leaveRelay(let relay): outlet?.leaveRelay(relay)
            // A request that was not sent is not answered: the relay is called again.
            case .askRelay(let relay, _): outlet?.loseRelay(relay)
            case .admitted(let link): outlet?.markKnown(link)
            case .tellRoom(let link): outlet?.tellRoom(on: link)
            case .keepFile(let blob): keepFile(blob)
            // Files that nobody names are looked for again.
            case .commitFully, .changed, .linksChanged, .call, .removeFile: break
            }
        }
    }

    func failed(_ input: Input, _ error: StoreError) {
        note(error, "a step failed")
        switch input.recovery {
        case .again(let inputs):
            offerLater(inputs)
        case .hangUp(let link, let inputs):
            outlet?.hangUp(link)
            offerLater(inputs)
        case .refuse(let id):
            waiting.removeValue(forKey: id)?.resume(throwing: NodeError(error))
        case .drop:
            break
        }
    }

    private func offerLater(_ inputs: [Input]) {
        for input in inputs { offer(input, in: Recovery.pause) }
    }

    private func offer(_ input: Input, in milliseconds: UInt64) {
        clock.call(on: executor.queue, after: milliseconds) { [weak self] in self?.offer(input) }
    }
}
