import ParleyLedger

/// What one step may use, and what it produces.
///
/// A step makes one and passes it to everything that it calls: nothing else of the world outside
/// reaches a core. It is a protocol with one conformer, so that whoever takes a turn need not name the types
/// of its store and its randomness.
protocol Turn {
    associatedtype TurnStore: Store
    associatedtype Randomness: RandomNumberGenerator

    /// When the step happens, on both clocks.
    var now: Instant { get }
    /// The store, inside the transaction that the shell opened.
    var store: TurnStore { get }
    /// Where keys, salts and jitter come from.
    var random: Randomness { get set }
    /// What the shell will have to do once the transaction is committed, in this order.
    var effects: [Effect] { get }

    /// Adds something that the shell has to do, after all that was added before.
    mutating func emit(_ effect: Effect)
}

/// The turn of one step.
struct StepTurn<TurnStore: Store, Randomness: RandomNumberGenerator>: Turn {
    let now: Instant
    let store: TurnStore
    var random: Randomness
    private(set) var effects: [Effect] = []

    init(at now: Instant, in store: TurnStore, using random: Randomness) {
        self.now = now
        self.store = store
        self.random = random
    }

    mutating func emit(_ effect: Effect) { effects.append(effect) }
}
