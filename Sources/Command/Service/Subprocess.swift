import Foundation
import Parley

/// Programs of this machine that a command asks.
struct Subprocess {
    let path: String
    let environment: [String: String]

    /// The program of this name on the person's path; nil if there is none.
    init?(_ name: String, environment: [String: String]) {
        let folders = (environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
        let places = folders.filter { $0.hasPrefix("/") }.map { "\($0)/\(name)" }
        guard let path = places.first(where: { access($0, X_OK) == 0 }) else { return nil }
        (self.path, self.environment) = (path, environment)
    }

    /// Runs it to its end.
    ///
    /// - Parameter isShown: whether it writes to this command's outputs; otherwise its output is
    ///   returned.
    func run(_ words: [String], isShown: Bool = false) throws -> (status: Int32, output: String) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = words
        process.environment = environment
        process.standardInput = FileHandle.nullDevice
        let pipe = Pipe()
        if !isShown {
            process.standardOutput = pipe
            process.standardError = pipe
        }
        do {
            try process.run()
        } catch {
            throw NodeError("not-started", "\(path) cannot be started: \(error).")
        }
        // What stops reading stops it.
        let data = isShown ? nil : try? pipe.fileHandleForReading.readToEnd()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: data ?? Data(), as: UTF8.self))
    }
}
