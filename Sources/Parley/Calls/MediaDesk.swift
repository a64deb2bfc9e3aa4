import ParleyNodeCore
import ParleySignalling
import ParleyWire
import Synchronization

/// Carries out the effects of calls outside of the core: runs a program or a client for the media,
/// and updates screens.
///
/// The program is started when a call begins here or rings, and serves that call only; it gets
/// `begin` when this device is about to join. A client that calls or answers takes its place. If
/// neither can continue, the call ends, and the reason is kept for the person. Running calls end
/// with the process.
final class MediaDesk: Sendable {
    /// Ended calls whose reasons are remembered.
    static let endedCountMax = 64

    struct Entry {
        var maker: (any MediaMaker)?
        /// Whether it rings, and a client is to answer, or nobody can.
        var awaitsSeat = false
        var hasBegun = false
        var told: MediaState = []
        /// Whether the program or client failed, and none is begun again before the call has taken that in.
        var hasFailed = false
        /// Why the program, or the client, failed last.
        var failure: String?
        /// The call as it was last shown.
        var view: CallView?
        /// When the first connection stood, on the monotonic clock.
        var established: UInt64?
    }

    struct State {
        var seats = MediaSeats()
        var entries: [CallID: Entry] = [:]
        /// Calls that are over, oldest first.
        var ended: Queue<CallID> = []
        var isClosing = false
        var listeners = Listeners<@Sendable (ChangeView) -> Void>()
    }

    let state = Mutex(State())
    private let running: RunningNode

    init(running: RunningNode) { self.running = running }

    // MARK: Orders

    /// Carries out an order; called in the node's actor, after the commit.
    func handle(_ output: Calls.Output) {
        let call = running.assumeIsolated { node in
            // A node that is shutting down has no calls any more.
            try? node.read { $0.core.calls[output.call] }
        }
        switch output.order {
        case .send: break
        case .ring: if let call { start(call) }
        case .stopRinging(let end): if let end { finish(output.call, end) }
        case .media(let device, let order):
            if let call { attend(to: call) }
            tell(MediaLine(order, of: device), of: output.call)
        case .established: break
        case .changed: if let call { attend(to: call) }
        case .ended(let end): finish(output.call, end)
        }
        show(output, call)
    }

    /// Has the program do what the call is at.
    private func attend(to call: Call) {
        switch call.phase {
        case .calling: start(call)
        case .joining, .talking:
            start(call)
            begin(call)
        case .ringing, .aside, .ended: break
        }
    }

    /// Assigns the media of a call: to the client that called or answered, or to the program.
    private func start(_ call: Call) {
        let id = call.id
        guard !seat(call) else { return }
        let (isNew, hasSeats) = state.withLock { state in
            let entry = state.entries[id]
            let isNew = !state.isClosing && entry?.maker == nil && entry?.hasFailed != true
            return (isNew, !state.seats.isEmpty)
        }
        guard isNew else { return }
        let program = settings().program
        if program.isEmpty, hasSeats, call.phase == .ringing {
            return state.withLock { $0.entries[id, default: Entry()].awaitsSeat = true }
        }
        do throws(MediaFailure) {
            let process = try MediaProcess(program) { [weak self] word in
                // Once a client has the call the program is ending, and has no say.
                guard let self, !self.isSeated(id) else { return }
                self.heard(word, of: id)
            }
            state.withLock { $0.entries[id, default: Entry()].maker = process }
        } catch {
            failed(error, of: id)
        }
    }

    /// Whether a client has the call.
    private func isSeated(_ id: CallID) -> Bool {
        state.withLock { $0.entries[id]?.maker is MediaSeat }
    }

    /// Gives a call to the client that called or answered. False where none did.
    private func seat(_ call: Call) -> Bool {
        guard call.phase != .ringing else { return false }
        let (isSeated, former) = state.withLock { state in
            guard !state.isClosing, let seat = state.seats.seat(in: call.space) else {
                return (false, nil as (any MediaMaker)?)
            }
            var entry = state.entries[call.id] ?? Entry()
            guard entry.maker !== seat else { return (true, nil) }
            defer { state.entries[call.id] = entry }
            let former = entry.maker
            (entry.maker, entry.hasBegun, entry.awaitsSeat, entry.failure) = (
                seat, false, false, nil
            )
            seat.take(call.id)
            return (true, former)
        }
        // A program that was started when it rang is not needed.
        former?.finish(patience: MediaProcess.patience)
        return isSeated
    }

    private func begin(_ call: Call) {
        let servers = { [self] in
            let label = hex((0..<8).map { _ in UInt8.random(in: 0...255) })
            return self.servers().map { $0.told(at: SystemClock.now.wall, label: label) }
        }
        let (maker, hasBegun, told) = state.withLock { state in
            let entry = state.entries[call.id]
            return (entry?.maker, entry?.hasBegun ?? false, entry?.told ?? [])
        }
        guard let maker else { return }
        if !hasBegun {
            maker.tell(
                .begin(call.id, on: call.own.device, call.media, servers: servers()))
        } else if told != call.media {
            maker.tell(.media(call.media))
        }
        state.withLock { state in
            state.entries[call.id]?.hasBegun = true
            state.entries[call.id]?.told = call.media
        }
    }

    private func tell(_ line: MediaLine, of id: CallID) {
        state.withLock { $0.entries[id]?.maker }?.tell(line)
    }

    /// The call is over for this device, or continues without it: returning to it starts a new
    /// program.
    private func finish(_ id: CallID, _ end: CallEnd) {
        let maker = state.withLock { state -> (any MediaMaker)? in
            guard var entry = state.entries[id] else { return nil }
            let maker = entry.maker
            (entry.maker, entry.awaitsSeat, entry.hasFailed) = (nil, false, false)
            (entry.hasBegun, entry.told) = (false, [])
            state.entries[id] = entry
            guard let seat = maker as? MediaSeat else { return maker }
            // It continues with the call that replaces this one.
            guard end != .replaced, seat.call == id else { return nil }
            state.seats.release(seat)
            return seat
        }
        maker?.finish(patience: MediaProcess.patience)
    }

    private func settings() -> CallSettings {
        running.assumeIsolated { node in
            // What cannot be read now is as good as nothing: the call ends with that reason.
            (try? node.read { try CallSettings.read(in: $0.store) }) ?? CallSettings()
        }
    }

    /// The first of the person's servers: devices apart may have set more than are asked.
    private func servers() -> ArraySlice<TurnServer> {
        running.assumeIsolated { node in
            // Without any, calls find direct ways.
            (try? node.read { try $0.callServers() })?.prefix(NodeCore.callServerCountMax) ?? []
        }
    }

    // MARK: News

    /// Called on the program's thread, or for the client.
    func heard(_ word: Result<MediaWord, MediaFailure>, of id: CallID) {
        switch word {
        case .success(.leg(let device, let news)): act(.news(device, news), on: id)
        case .success(.media(let media)): act(.setMedia(media), on: id)
        case .success(.hangUp): act(.hangUp, on: id)
        case .success(.failed(let reason)): failed(.said(reason), of: id)
        case .failure(let failure): failed(failure, of: id)
        }
    }

    func failed(_ failure: MediaFailure, of id: CallID) {
        state.withLock { state in
            var entry = state.entries[id] ?? Entry()
            if let seat = entry.maker as? MediaSeat { state.seats.release(seat) }
            (entry.maker, entry.awaitsSeat, entry.hasFailed) = (nil, false, true)
            entry.failure = failure.sentence
            state.entries[id] = entry
        }
        act(.mediaFailed, on: id)
    }

    private func act(_ act: CallAct, on id: CallID) {
        // Nobody waits for the answer: where the call is over, there is nothing to be done.
        running.offer(.command(CommandID(0), .act(id, act)))
    }

    // MARK: Screens

    /// Calls back with each call that changes; returns what ends that.
    func listen(_ body: @escaping @Sendable (ChangeView) -> Void) -> UInt64 {
        state.withLock { $0.listeners.add(body) }
    }

    func unlisten(_ id: UInt64) { state.withLock { $0.listeners.remove(id) } }

    /// Why the program of a call failed, where it did.
    func failure(of call: CallID) -> String? { state.withLock { $0.entries[call]?.failure } }

    private func show(_ output: Calls.Output, _ call: Call?) {
        switch output.order {
        case .send, .media: return
        case .ring, .stopRinging, .established, .changed, .ended: break
        }
        let (failure, last, established) = state.withLock { state in
            let entry = state.entries[output.call]
            return (entry?.failure, entry?.view, call?.established ?? entry?.established)
        }
        let made = running.assumeIsolated { node in
            // As above.
            try? node.read { views in try call.map { try views.view(of: $0, failure: failure) } }
        }
        guard var view = made ?? last else { return }
        // One that is over may be known here alone, as it was shown last.
        let now = SystemClock.now.monotonic
        view.milliseconds = established.map { Int(clamping: now - min($0, now)) }
        switch output.order {
        case .ended(let end), .stopRinging(let end?):
            view.reason = sentence(end, failure)
            view.end = end.word
            if call == nil || call?.phase == .ended { view.state = "ended" }
        case .send, .ring, .stopRinging, .media, .established, .changed:
            if call == nil {
                // The reason follows in the same step, or was reported when the call continued
                // without this device.
                guard last?.state == "aside" else { return }
                view.state = "ended"
            }
        }
        let listeners = state.withLock { state in
            state.entries[output.call, default: Entry()].view = view
            state.entries[output.call]?.established = established
            if view.state == "ended" { forget(output.call, &state) }
            return state.listeners.all
        }
        guard view != last else { return }
        let change = ChangeView(kind: "call", conversation: view.conversation, call: view)
        for listener in listeners { listener(change) }
    }

    private func forget(_ id: CallID, _ state: inout State) {
        if !state.ended.contains(id) { state.ended.append(id) }
        guard state.ended.count > Self.endedCountMax, let oldest = state.ended.popFirst() else {
            return
        }
        state.entries[oldest] = nil
    }

    private func sentence(_ end: CallEnd, _ failure: String?) -> String {
        if case .mediaFailed = end, let failure { return failure }
        return running.assumeIsolated { node in
            // As above.
            let sentence = try? node.read { views in
                end.sentence { person in views.called(person) }
            }
            return sentence ?? end.word
        }
    }

    // MARK: The end

    /// Ends all programs, and waits until they are gone.
    func shutdown() async {
        let makers = state.withLock { state in
            state.isClosing = true
            let sorted = state.entries.sorted { $0.key < $1.key }
            for (id, _) in sorted { state.entries[id]?.maker = nil }
            return sorted.compactMap(\.value.maker)
        }
        for maker in makers { maker.finish(patience: .milliseconds(500)) }
        for maker in makers { await maker.ended() }
    }
}
