import Synchronization

/// Models that are in memory, for all workers of a process.
///
/// A model is loaded by its first user, and dropped when nobody has needed any for a while: a
/// running computation keeps it until it is done.
public final class ModelShelf: Sendable {
    private enum Loaded {
        case miniLM(MiniLM.Weights)
        case useM3(MultilingualEncoder.Weights)
    }
    /// With how their files looked when they were verified.
    private let loaded = Mutex<[ModelPackage: (model: Loaded, look: [String])]>([:])
    /// Where they are installed.
    public let folder: ModelFolder

    /// The models in this folder.
    public init(_ folder: ModelFolder) { self.folder = folder }

    /// A worker that runs a model.
    public func worker(_ model: ModelPackage) throws(ModelError) -> any TextEmbedder {
        let look = folder.look(of: model)
        if let known = loaded.withLock({ $0[model] }), known.look == look {
            return Self.worker(known.model)
        }
        loaded.withLock { $0[model] = nil }
        try folder.verify(model)
        let path = folder.folder(of: model)
        let made: Loaded =
            switch model {
            case .miniLM: .miniLM(try MiniLM.Weights(folder: path, precision: .bytes))
            case .useM3: .useM3(try MultilingualEncoder.Weights(folder: path))
            }
        loaded.withLock { $0[model] = (made, look) }
        return Self.worker(made)
    }

    private static func worker(_ loaded: Loaded) -> any TextEmbedder {
        switch loaded {
        case .miniLM(let weights): MiniLM(weights)
        case .useM3(let weights): MultilingualEncoder(weights)
        }
    }

    /// Whether the files of a model in memory look as they did when they were verified: they are mapped, so
    /// what is written into them is what the model computes with.
    public func isUnchanged(_ model: ModelPackage) -> Bool {
        let look = loaded.withLock { $0[model]?.look }
        return look.map { $0 == folder.look(of: model) } ?? true
    }

    /// Lets go of all of them.
    public func letGo() { loaded.withLock { $0 = [:] } }
}
