import Foundation

/// A command as the program advises it, read from what it printed.
struct Advised {
    /// The whole of it.
    let command: String

    /// All of an output, in their order: those between backticks, those that are to be typed elsewhere, in
    /// quotation marks, and those that stand in a sentence, up to the home that they name.
    ///
    /// - Parameter isBare: also those in a sentence that name no home, up to the words that are no command.
    static func found(in output: String, isBare: Bool = false) -> [Advised] {
        let marked = output.matches(of: /[`“](parley [a-z][^`”]*)[`”]/).map { String($0.1) }
        // With what stands behind the home: options, words in capital letters, identifiers.
        let inSentence =
            #/
            (parley\ [a-z][a-z\ \-]*?\ --home\ [^\ ,;)\n]+
            (?:\ --?[a-z][a-z\-]*|\ [A-Z]+|\ off|\ [0-9a-f]{8,12})*)
            /#
        let bare = output.matches(of: inSentence).map { String($0.1) }
        let hints = output.matches(of: /hint: (parley [a-z]+(?: [a-z]+)?)/).map { String($0.1) }
        return (marked + bare + (isBare ? hints : [])).map(Advised.init)
    }

    /// The first that begins with these words, apart from the home that it names, read from an output.
    static func first(
        _ words: String, in output: String, isBare: Bool = false
    ) throws -> Advised {
        let one = found(in: output, isBare: isBare).first { one in
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
    ///   - options: what a person is asked for at a terminal, or adds as they are told.
    ///   - environment: variables that their shell has besides those of the tests.
    func run(
        _ values: [String: String] = [:], adding options: String = "", in folder: String,
        environment: [String: String] = [:]
    ) async throws -> (status: Int32, output: String) {
        let program = try start(values, adding: options, in: folder, environment: environment)
        return (try await program.ended(), program.output)
    }

    /// The same of one that goes on until it is ended.
    func start(
        _ values: [String: String] = [:], adding options: String = "", in folder: String,
        environment: [String: String] = [:]
    ) throws -> Program {
        var line = command
        for (word, value) in values.sorted(by: { $0.key < $1.key }) {
            line = line.replacing(word, with: "'\(value)'")
        }
        // The last of them becomes the program: it can be ended.
        let path = "'\(Program.path)'"
        let script = "cd '\(folder)'; exec \(line.replacing(/^parley/, with: path)) \(options)"
        return try Program(["-c", script], environment: environment, by: ["bash"])
    }
}
