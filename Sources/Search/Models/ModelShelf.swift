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
    /// What was found when the files of a model were compared with their hashes, and how they looked then.
    private struct Verdict {
        var look: [String]
        var damage: ModelError?
    }
    /// With how their files looked when they were verified.
    private let loaded = Mutex<[ModelPackage: (model: Loaded, look: [String])]>([:])
    private let verdicts = Mutex<[ModelPackage: Verdict]>([:])
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
        if let damage = damage(of: model) { throw damage }
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

    /// What is wrong with the files of a model. They are read where they look otherwise than when that was last
    /// asked, which takes about half a second.
    public func damage(of model: ModelPackage) -> ModelError? {
        let look = folder.look(of: model)
        if let known = verdicts.withLock({ $0[model] }), known.look == look { return known.damage }
        var verdict = Verdict(look: look)
        do { try folder.verify(model) } catch { verdict.damage = error }
        verdicts.withLock { $0[model] = verdict }
        return verdict.damage
    }

    /// The same of each installed model that was asked about before: what nobody uses is not read for it.
    public var knownDamage: [(model: ModelPackage, damage: ModelError)] {
        folder.installed.compactMap { model in
            guard verdicts.withLock({ $0[model] }) != nil else { return nil }
            return damage(of: model).map { (model, $0) }
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
