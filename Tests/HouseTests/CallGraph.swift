/// Which files of the core call which.
///
/// Calls are told by text: a name with its labels, as a method of the core has them. What is called by another way,
/// as a method of a value, is not seen, and of two methods that differ in types alone one is taken. So the figures
/// are bounds to keep, and no truths.
struct CallGraph {
    /// The files that each file calls, itself aside.
    private(set) var calls: [String: Set<String>] = [:]

    /// Those that pass on what arrives: they call everything, which is their job.
    static let dispatchers: Set<String> = ["NodeCore.swift", "NodeCore+Commands.swift"]

    /// A method, and where it stands.
    struct Method {
        let name: String
        let labels: [String]
        let path: String
        let isPrivate: Bool
        let body: ArraySlice<UInt8>
    }

    /// The graph of a type's methods.
    init(of type: String, in files: [SourceFile]) {
        let methods = files.flatMap { Self.methods(of: type, in: $0) }
        let named = Dictionary(grouping: methods, by: \.name)
        for method in methods where !Self.isDispatcher(method.path) {
            for call in Self.calls(in: method.body) {
                let callee = Self.callee(of: call, from: method.path, among: named[call.name] ?? [])
                guard let callee, callee != method.path, !Self.isDispatcher(callee) else {
                    continue
                }
                calls[method.path, default: []].insert(callee)
            }
        }
    }

    /// Two files each that call each other.
    var mutualPairs: [String] {
        calls.keys.sorted().flatMap { one in
            calls[one, default: []].sorted()
                .filter { one < $0 && calls[$0, default: []].contains(one) }
                .map { "\(Self.name(one)) ⇄ \(Self.name($0))" }
        }
    }

    /// The files of the largest cycle: each leads to each other.
    var largestCycle: Set<String> {
        let reached = Dictionary(uniqueKeysWithValues: calls.keys.map { ($0, reach(of: $0)) })
        let cycles = calls.keys.sorted().map { one in
            reached[one, default: []].filter { reached[$0, default: []].contains(one) }
        }
        return cycles.max { $0.count < $1.count } ?? []
    }

    private func reach(of start: String) -> Set<String> {
        var reached: Set<String> = []
        var waiting = [start]
        while let next = waiting.popLast() {
            for file in calls[next, default: []] where reached.insert(file).inserted {
                waiting.append(file)
            }
        }
        return reached
    }

    private static func name(_ path: String) -> String {
        path.split(separator: "/").last.map(String.init) ?? path
    }

    private static func isDispatcher(_ path: String) -> Bool { dispatchers.contains(name(path)) }

    /// The file of the method that is meant: one with these labels, else one that has more, with defaults.
    private static func callee(
        of call: (name: String, labels: [String]), from path: String, among all: [Method]
    ) -> String? {
        let open = all.filter { !$0.isPrivate || $0.path == path }
            .sorted { ($0.path != path ? 1 : 0, $0.path) < ($1.path != path ? 1 : 0, $1.path) }
        let exact = open.first { $0.labels == call.labels }
        return (exact ?? open.first { holds($0.labels, call.labels) })?.path
    }

    /// Whether labels stand among others in their order.
    private static func holds(_ all: [String], _ some: [String]) -> Bool {
        var rest = some[...]
        for label in all where label == rest.first { rest.removeFirst() }
        return rest.isEmpty
    }
}

/// Reading source.
extension CallGraph {
    /// The methods of a type that a file declares.
    static func methods(of type: String, in file: SourceFile) -> [Method] {
        let code = Array(file.code.utf8)
        return extents(of: type, in: code).flatMap { extent in
            methods(in: code[extent], path: file.path)
        }
    }

    /// Where the type, or an extension of it, has its members.
    private static func extents(of type: String, in code: [UInt8]) -> [Range<Int>] {
        var found: [Range<Int>] = []
        var start = 0
        for line in code.split(separator: 10, omittingEmptySubsequences: false) {
            defer { start += line.count + 1 }
            let words = line.split { !isWord($0) }.map { String(decoding: $0, as: UTF8.self) }
            let isBegun = zip(words, words.dropFirst()).contains {
                ["struct", "extension"].contains($0) && $1 == type
            }
            guard isBegun, line.first != 32, let brace = code[start...].firstIndex(of: 123),
                let end = closing(of: brace, in: code[...])
            else { continue }
            found.append(brace + 1..<end)
        }
        return found
    }

    private static func methods(in code: ArraySlice<UInt8>, path: String) -> [Method] {
        var found: [Method] = []
        var lineStart = code.startIndex
        for (word, range) in words(in: code) {
            if let line = code[..<range.lowerBound].lastIndex(of: 10) { lineStart = line }
            guard word == "func" else { continue }
            let modifiers = String(decoding: code[lineStart..<range.lowerBound], as: UTF8.self)
            let rest = code[range.upperBound...].drop { $0 == 32 }
            let name = rest.prefix(while: isWord)
            guard !name.isEmpty, let open = code[name.endIndex...].firstIndex(of: 40),
                let close = closing(of: open, in: code),
                let brace = code[close...].firstIndex(of: 123),
                let end = closing(of: brace, in: code)
            else { continue }
            found.append(
                Method(
                    name: String(decoding: name, as: UTF8.self),
                    labels: parts(of: code[open + 1..<close]).map(parameter), path: path,
                    isPrivate: modifiers.contains("private"), body: code[brace..<end]))
        }
        return found
    }

    /// What a body calls, by name and labels: words with a parenthesis right behind, and no dot in front but that
    /// of `self`.
    static func calls(in body: ArraySlice<UInt8>) -> [(name: String, labels: [String])] {
        words(in: body).compactMap { word, range in
            guard range.upperBound < body.endIndex, body[range.upperBound] == 40,
                let close = closing(of: range.upperBound, in: body)
            else { return nil }
            let before = body[..<range.lowerBound]
            if before.last == 46, !before.dropLast().suffix(4).elementsEqual(Array("self".utf8)) {
                return nil
            }
            return (word, parts(of: body[range.upperBound + 1..<close]).map(argument))
        }
    }

    private static func words(in code: ArraySlice<UInt8>) -> [(String, Range<Int>)] {
        code.split { !isWord($0) }.map {
            (String(decoding: $0, as: UTF8.self), $0.startIndex..<$0.endIndex)
        }
    }

    /// What stands between commas, outside of other brackets.
    private static func parts(of code: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        var (depth, start) = (0, code.startIndex)
        var found: [ArraySlice<UInt8>] = []
        for index in code.indices {
            switch code[index] {
            case 40, 91, 123: depth += 1
            case 41, 93, 125: depth -= 1
            case 44 where depth == 0:
                found.append(code[start..<index])
                start = index + 1
            default: break
            }
        }
        let last = code[start...]
        return last.contains { $0 > 32 } ? found + [last] : found
    }

    /// The label of a parameter.
    private static func parameter(_ part: ArraySlice<UInt8>) -> String {
        let words = part.split { !isWord($0) && $0 != 64 }
        let label = words.first { $0.first != 64 } ?? []
        return String(decoding: label, as: UTF8.self)
    }

    /// The label of an argument, `_` where it has none.
    private static func argument(_ part: ArraySlice<UInt8>) -> String {
        let rest = part.drop { $0 <= 32 }
        let word = rest.prefix(while: isWord)
        return !word.isEmpty && rest.dropFirst(word.count).first == 58
            ? String(decoding: word, as: UTF8.self) : "_"
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        byte == 95 || (48...57).contains(byte) || (65...90).contains(byte)
            || (97...122).contains(byte)
    }

    /// The bracket that closes the one at a place.
    private static func closing(of open: Int, in code: ArraySlice<UInt8>) -> Int? {
        var depth = 0
        for index in open..<code.endIndex {
            switch code[index] {
            case 40, 91, 123: depth += 1
            case 41, 93, 125: depth -= 1
            default: continue
            }
            if depth == 0 { return index }
        }
        return nil
    }
}
