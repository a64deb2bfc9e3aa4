import Foundation

/// A command as the program advises it, read from what it printed.
struct Advised {
    /// The whole of it.
    let command: String

    /// All that stand between backticks, in their order: they are to be typed here.
    static func found(in output: String) -> [Advised] {
        output.matches(of: /`(parley [^`]+)`/).map { Advised(command: String($0.1)) }
    }

    /// All that are to be typed elsewhere.
    static func elsewhere(in output: String) -> [Advised] {
        output.matches(of: /“(parley [^”]+)”/).map { Advised(command: String($0.1)) }
    }

    /// The first that begins with these words, apart from the home that it names, read from an output.
    static func first(_ words: String, in output: String) throws -> Advised {
        let all = found(in: output) + elsewhere(in: output)
        let one = all.first { one in
            one.command.replacing(#/ --home [^ ]+/#, with: "").hasPrefix("parley " + words)
        }
        guard let one else {
            throw Late(description: "“parley \(words)” is not advised: \(output)")
        }
        return one
    }

    /// Runs it by a shell, as a person does who copies it.
    ///
    /// - Parameters:
    ///   - values: what stands for a word in capital letters.
    ///   - options: what a person is asked for at a terminal.
    func run(
        _ values: [String: String] = [:], adding options: String = "", in folder: String
    ) async throws -> (status: Int32, output: String) {
        var line = command
        for (word, value) in values.sorted(by: { $0.key < $1.key }) {
            line = line.replacing(word, with: "'\(value)'")
        }
        let script = "cd '\(folder)'; parley() { '\(Program.path)' \"$@\"; }; \(line) \(options)"
        let program = try Program(["-c", script], by: ["bash"])
        return (try await program.ended(), program.output)
    }
}
