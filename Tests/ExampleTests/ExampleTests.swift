import Foundation
import Testing

@Suite("The example package")
struct ExampleTests {
    /// Built in a place of its own: the build that runs this test holds the usual one locked. The
    /// first time takes a minute of two cores, later ones seconds; `make example` gives way to
    /// whatever else runs.
    @Test("builds against the library and passes", .timeLimit(.minutes(15)))
    func passes() async throws {
        let log = FileManager.default.temporaryDirectory
            .appendingPathComponent("parley-example-\(ProcessInfo.processInfo.processIdentifier)")
        defer { try? FileManager.default.removeItem(at: log) }  // the folder is swept anyhow
        try Data().write(to: log)
        let status = try await Self.make("example", output: FileHandle(forWritingTo: log))
        let output = try String(contentsOf: log, encoding: .utf8)
        #expect(status == 0, "\(output.suffix(4_000))")
        #expect(output.contains("Test run with 3 tests"), "\(output.suffix(4_000))")
    }

    /// Bash closes what it inherited: another test's pipe must not stay open as long as a build. Pipes
    /// alone: once the socket is closed by which Foundation learns of the end, it waits for this
    /// process, and until then hears of the end of no other.
    private static func make(_ goal: String, output: FileHandle) async throws -> Int32 {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.arguments = [
            "-c",
            """
            for each in /proc/$$/fd/*; do
                number=${each##*/}
                if ((number > 2)) && [[ $(readlink "$each") == pipe:* ]]; then
                    eval "exec $number>&-"
                fi
            done
            exec make --no-print-directory \(goal)
            """,
        ]
        process.currentDirectoryURL = Pages.root
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = output
        return try await withCheckedThrowingContinuation { continuation in
            process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
            do {
                try process.run()
            } catch {
                process.terminationHandler = nil
                continuation.resume(throwing: error)
            }
        }
    }
}
