import Foundation

/// Traces of one machine in files meant for every machine.
enum Traces {
    /// Hosts that a file may point a reader to. A build fetches from where the reader's own
    /// tools are set to fetch from: no file names such a place.
    static let hosts: Set<String> = [
        "github.com", "www.swift.org", "www.apache.org", "www.rfc-editor.org", "noiseprotocol.org",
        "doc.libsodium.org", "sqlite.org", "www.sqlite.org", "localhost", "127.0.0.1", "[::1]",
        "creativecommons.org", "eprint.iacr.org", "specifications.freedesktop.org", "www.w3.org",
    ]
    /// Domains that are set aside for examples, and for the machine itself.
    static let examples = [
        "example", "example.org", "example.com", "example.net", "test", "invalid", "localhost",
    ]
    /// Folders at the root of a disk that are a machine's own affair.
    private static let folders = ["root", "work", "opt", "Users"].map { "/" + $0 + "/" }

    static func find(in file: SourceFile) -> [Finding] {
        file.lines.enumerated().flatMap { index, line -> [Finding] in
            (strangeHosts(line).map { "names the host \($0)" }
                + machinePaths(line).map { "names a folder below \($0)" })
                .map { Finding(path: file.path, line: index + 1, what: $0) }
        }
    }

    private static func strangeHosts(_ line: Substring) -> [String] {
        guard line.contains("://") else { return [] }
        var found: [String] = []
        var rest = line
        while let sign = rest.range(of: "://") {
            let isWeb =
                rest[..<sign.lowerBound].hasSuffix("http")
                || rest[..<sign.lowerBound].hasSuffix("https")
            rest = rest[sign.upperBound...]
            guard isWeb, let first = rest.first, first.isLetter || first.isNumber || first == "["
            else { continue }
            let host = String(
                first == "["
                    ? rest.prefix { $0 != "]" } + "]"
                    : rest.prefix { $0.isLetter || $0.isNumber || $0 == "." || $0 == "-" })
            let isExample = examples.contains { host == $0 || host.hasSuffix("." + $0) }
            if !isExample, !hosts.contains(host) { found.append(host) }
        }
        return found
    }

    private static func machinePaths(_ line: Substring) -> [String] {
        folders.filter { folder in
            var rest = line
            while let found = rest.range(of: folder) {
                let before = line[..<found.lowerBound].last
                if before.map({ !$0.isLetter && !$0.isNumber && !"._-*~/}".contains($0) }) ?? true {
                    return true
                }
                rest = rest[found.upperBound...]
            }
            return false
        }
    }
}
