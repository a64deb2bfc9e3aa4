import Foundation
import Parley
import ParleyLocalAPI

/// A shell asks what may stand at its cursor.
///
/// ```
/// parley __complete bash LINE-UP-TO-CURSOR WORD-AS-BASH-SEES-IT
/// parley __complete zsh|fish CURRENT-WORD WORD…
/// ```
/// The answer's first line is `words`, `part` (words that are not whole), `files` or `folders`; each
/// further one is a word, for zsh and fish with a tabulator and its meaning. Errors are silent, and what the node
/// does not say at once is left out: a person is typing.
struct CompletionCall {
    /// How long a node is asked at most: it answers within some milliseconds, unless the machine is
    /// busy.
    static let timeMax: Duration = .milliseconds(250)
    /// No line that a person types is longer.
    private static let lineByteCountMax = 64 << 10

    let shell: String
    private let line: TypedLine
    /// What of the word at the cursor stands before the part that bash replaces.
    private let kept: TypedLine

    init?(_ arguments: [String]) {
        guard arguments.count >= 3, arguments.allSatisfy({ $0.utf8.count <= Self.lineByteCountMax })
        else { return nil }
        shell = arguments[0]
        guard shell == "bash" else {
            // fish passes the word as it was typed.
            let current = shell == "fish" ? TypedLine(arguments[1]).current : arguments[1]
            line = TypedLine(words: Array(arguments.dropFirst(2)), current: current)
            kept = TypedLine("")
            return
        }
        line = TypedLine(arguments[1])
        // It takes words apart at colons and equals signs, and replaces the last part.
        let part = arguments[2]
        kept = TypedLine(
            line.typed.hasSuffix(part) ? String(line.typed.dropLast(part.count)) : "")
    }

    /// Answers. There is nothing that could be told of an error.
    func run() async {
        let words = CommandWords(Array(line.words.dropFirst()))
        let completer = Completer(line: line) { await Self.names(of: $0, by: words) }
        // What cannot be told is nothing to a person who types.
        guard let offer = try? await completer.offer() else { return }
        World.current.write(text(of: offer))
    }

    /// What the shell reads.
    func text(of offer: Completer.Offer) -> String {
        switch offer {
        case .files(let foldersOnly): return foldersOnly ? "folders" : "files"
        case .words(let candidates):
            let isPart = candidates.count == 1 && candidates[0].word.hasSuffix("=")
            let lines = candidates.map { candidate in
                guard shell == "bash" else {
                    let meaning = candidate.meaning
                    return candidate.word + (meaning.isEmpty ? "" : "\t" + meaning)
                }
                return ShellWord.bash(
                    String(candidate.word.dropFirst(kept.current.count)), in: kept.quotes)
            }
            return ([isPart ? "part" : "words"] + lines).joined(separator: "\n")
        }
    }

    /// What the node knows, as far as it says so in time.
    private static func names(of kind: NameKind, by words: CommandWords) async -> [Completer
        .Candidate]
    {
        let world = World.current
        let (stream, continuation) = AsyncStream.makeStream(of: [Completer.Candidate].self)
        Task {
            // Failures are not reported.
            continuation.yield((try? await lookUp(kind, words, world)) ?? [])
        }
        Task {
            // The process ends with its answer, and what still works ends with it.
            try? await Task.sleep(for: timeMax)
            continuation.yield([])
        }
        for await found in stream { return found }
        return []
    }

    private static func lookUp(
        _ kind: NameKind, _ words: CommandWords, _ world: World
    ) async throws -> [Completer.Candidate] {
        if kind == .home {
            return HomeFolders(world.environment).list().map {
                Completer.Candidate(word: $0.name, meaning: "home")
            }
        }
        let home = words.home.map { Self.expanded($0, world.environment) }
        let path = HomeOptions.path(
            home: home, profile: words.profile, environment: world.environment)
        guard let access = try await world.glance(path) else { return [] }
        let names = try await NameBook(node: access.node).names(of: kind)
        await access.close()
        return names
    }

    /// The one thing that a shell would put in place and that stands in front of paths all the time.
    private static func expanded(_ path: String, _ environment: [String: String]) -> String {
        guard path == "~" || path.hasPrefix("~/"), let home = environment["HOME"] else {
            return path
        }
        return home + path.dropFirst()
    }
}
