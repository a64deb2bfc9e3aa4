import Synchronization

/// Models that are in memory, for all workers of a process.
///
/// A model is loaded by the first who needs it, and let go of when nobody has needed any for a
/// while: who still works with one keeps it until the work is done.
public final class ModelShelf: Sendable {
    private enum Loaded {
        case miniLM(MiniLM.Weights)
        case useM3(MultilingualEncoder.Weights)
    }
    private let loaded = Mutex<[ModelPackage: Loaded]>([:])
    /// Where they are installed.
    public let folder: ModelFolder

    /// The models in this folder.
    public init(_ folder: ModelFolder) { self.folder = folder }

    /// A worker that runs a model.
    public func worker(_ model: ModelPackage) throws(ModelError) -> any TextEmbedder {
        if let known = loaded.withLock({ $0[model] }) { return Self.worker(known) }
        try folder.verify(model)
        let path = folder.folder(of: model)
        let made: Loaded =
            switch model {
            case .miniLM: .miniLM(try MiniLM.Weights(folder: path, precision: .bytes))
            case .useM3: .useM3(try MultilingualEncoder.Weights(folder: path))
            }
        loaded.withLock { $0[model] = made }
        return Self.worker(made)
    }

    private static func worker(_ loaded: Loaded) -> any TextEmbedder {
        switch loaded {
        case .miniLM(let weights): MiniLM(weights)
        case .useM3(let weights): MultilingualEncoder(weights)
        }
    }

    /// Lets go of all of them.
    public func letGo() { loaded.withLock { $0 = [:] } }
}
