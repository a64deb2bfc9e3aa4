import ParleyWire

@testable import ParleySignalling

/// The same numbers in every run (SplitMix64).
struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}

/// Devices that hear each other over a bad network in virtual time, each with a program for sound
/// and pictures that does what it is told.
struct Stage {
    struct Line: Equatable {
        var at: UInt64
        var device: String
        var order: Call.Output
    }

    private enum Happening {
        case said(CallSignal, CallID, from: String, Stamp)
        case news(CallID, MediaNews, of: String)
    }

    private struct Due {
        var at: UInt64
        var turn: Int
        var device: String
        var what: Happening
    }

    /// Milliseconds that a signal takes: drawn from here.
    var delay: ClosedRange<UInt64> = 5...5
    /// Of a hundred signals so many are lost.
    var lossPercent: UInt64 = 0
    /// Devices that nobody reaches, and that reach nobody.
    var away: Set<String> = []
    private(set) var now: UInt64 = 1_000
    private var persons: [PersonID] { Set(names.map { Cast.device($0).person }).sorted() }
    private(set) var calls: [String: Calls] = [:]
    private(set) var lines: [Line] = []
    let names: [String]
    private var random: SeededRandom
    private var queue: [Due] = []
    private var turn = 0
    private var stamp = Stamp(0)
    private var nextCall: UInt64 = 0

    init(_ names: [String], seed: UInt64 = 1) {
        self.names = names
        random = SeededRandom(seed: seed)
        for name in names { calls[name] = Calls() }
    }

    // MARK: - What people do

    @discardableResult
    mutating func call(_ name: String, named id: UInt64? = nil) throws -> CallID {
        nextCall += 1
        let call = CallID(Check(high: id ?? nextCall, low: 0))
        let everybody = persons
        let outputs = try calls[name]?.begin(
            call, in: Cast.space, by: Cast.device(name), inviting: everybody, .microphone, at: now)
        perform(outputs ?? [], at: name)
        return call
    }

    mutating func act(_ name: String, _ event: Call.Event, _ call: CallID) {
        // Whoever acts on a call that is over just now does nothing.
        let outputs = try? calls[name]?.handle(event, of: call, at: now)
        perform(outputs ?? [], at: name)
    }

    mutating func crash(_ name: String) {
        calls[name] = Calls()
        queue.removeAll { $0.device == name }
    }

    // MARK: - Time

    mutating func run(for time: UInt64) {
        let end = now + time
        while let next = nextMoment(), next <= end {
            precondition(next >= now || !queue.isEmpty, "a deadline that has passed was not met")
            now = max(now, next)
            for name in names where calls[name]?.deadline.map({ $0 <= now }) ?? false {
                let outputs = calls[name]?.due(at: now)
                perform(outputs ?? [], at: name)
            }
            let due = queue.filter { $0.at <= now }.sorted { ($0.at, $0.turn) < ($1.at, $1.turn) }
            queue.removeAll { $0.at <= now }
            for happening in due { happen(happening) }
        }
        now = end
    }

    private func nextMoment() -> UInt64? {
        (queue.map(\.at) + names.compactMap { calls[$0]?.deadline }).min()
    }

    private mutating func happen(_ due: Due) {
        switch due.what {
        case .news(let call, let news, let peer):
            act(due.device, .news(Cast.device(peer).device, news), call)
        case .said(let signal, let call, let sender, let stamp):
            guard !away.contains(due.device), !away.contains(sender) else { return }
            var known: [Participant] = []
            if case .members(let devices) = signal {
                known = names.map(Cast.device).filter { devices.contains($0.device) }
            }
            let isAlone = persons.count == 2
            let outputs = calls[due.device]?.receive(
                signal, of: call, in: Cast.space, stamp,
                from: .init(
                    Cast.device(sender), mayRing: true, isAlone: isAlone, known: known),
                to: Cast.device(due.device), at: now)
            perform(outputs ?? [], at: due.device)
        }
    }

    // MARK: - What devices do

    private mutating func perform(_ outputs: [Calls.Output], at name: String) {
        for output in outputs {
            lines.append(Line(at: now, device: name, order: output.order))
            switch output.order {
            case .send(let signal, .everyone):
                for other in names where other != name {
                    say(signal, output.call, from: name, to: other)
                }
            case .send(let signal, .device(let device)):
                say(signal, output.call, from: name, to: Cast.name(device))
            case .media(let device, let order):
                program(order, output.call, at: name, for: Cast.name(device))
            case .ring, .stopRinging, .established, .changed, .ended:
                break
            }
        }
    }

    private mutating func say(
        _ signal: CallSignal, _ call: CallID, from name: String, to other: String
    ) {
        stamp = Stamp(stamp.rawValue + 1)
        guard UInt64.random(in: 0..<100, using: &random) >= lossPercent else { return }
        let arrival = now + UInt64.random(in: delay, using: &random)
        add(arrival, other, .said(signal, call, from: name, stamp))
    }

    private mutating func program(
        _ order: MediaOrder, _ call: CallID, at name: String, for peer: String
    ) {
        switch order {
        case .makeOffer: add(now + 2, name, .news(call, .offer("offer"), of: peer))
        case .answer: add(now + 2, name, .news(call, .answer("answer"), of: peer))
        case .take:
            // Both programs know of each other now.
            guard !away.contains(name), !away.contains(peer) else { return }
            add(now + 20, name, .news(call, .connected, of: peer))
            add(now + 20, peer, .news(call, .connected, of: name))
        case .add, .close: break
        }
    }

    private mutating func add(_ at: UInt64, _ device: String, _ what: Happening) {
        turn += 1
        queue.append(Due(at: at, turn: turn, device: device, what: what))
    }

    // MARK: - What is to be seen

    /// Devices that ring now.
    func ringing() -> [String] { names.filter { phases($0).contains(.ringing) } }

    func phases(_ name: String) -> [Call.Phase] { calls[name]?.all.map(\.phase) ?? [] }

    /// With whom a device talks: those to whom its leg stands.
    func talksTo(_ name: String) -> [String] {
        let legs = calls[name]?.current?.legs ?? [:]
        return legs.filter { $0.value.phase == .connected }.keys.sorted().map(Cast.name)
    }

    func count(_ order: Call.Output, at name: String) -> Int {
        lines.filter { $0.device == name && $0.order == order }.count
    }

    /// Why calls ended here, or went on without this device.
    func ends(_ name: String) -> [CallEnd] {
        lines.filter { $0.device == name }.compactMap { line in
            switch line.order {
            case .ended(let end), .stopRinging(.some(let end)): end
            default: nil
            }
        }
    }
}
