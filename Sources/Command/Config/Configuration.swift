import Foundation
import Parley

/// The person's settings, from the file and the environment, which overrides it.
///
/// The file is the one that `--config` names, else `$PARLEY_CONFIG`, else `parley/config.toml` in
/// `$XDG_CONFIG_HOME`, else `~/.config/parley/config.toml`. If there is none, nothing is set.
struct Configuration: Sendable {
    /// Where a value comes from.
    enum Source: Equatable, Sendable {
        case usual, file(TOMLDocument.Place), variable
    }

    /// Longer ones are a mistaken file.
    static let byteCountMax = 64 << 10

    /// The file, which need not exist.
    let path: String
    private(set) var values: [String: ConfigValue] = [:]
    private(set) var sources: [String: Source] = [:]
    /// The problems, each with its place.
    private(set) var faults: [ConfigFault] = []

    /// Source: XDG Base Directory Specification, `XDG_CONFIG_HOME`.
    static func path(named file: String?, environment: [String: String]) -> String {
        if let file { return wholePath(file) }
        if let file = environment["PARLEY_CONFIG"], !file.isEmpty { return wholePath(file) }
        if let folder = environment["XDG_CONFIG_HOME"], folder.hasPrefix("/") {
            return wholePath(folder + "/parley/config.toml")
        }
        return wholePath((environment["HOME"] ?? NSHomeDirectory()) + "/.config/parley/config.toml")
    }

    /// What holds, and all that is wrong.
    ///
    /// - Parameter isNamed: whether a person named the file: then it has to exist.
    init(path: String, isNamed: Bool = false, environment: [String: String]) {
        self.path = path
        if let text = readFile(isNamed) { read(text) }
        for key in ConfigKey.all {
            guard let text = environment[key.variable] else { continue }
            take(text, of: key)
        }
    }

    /// What holds.
    ///
    /// - Throws: ``NodeError`` with the first thing that is wrong.
    static func load(named file: String? = nil, environment: [String: String]) throws
        -> Configuration
    {
        let named = file ?? environment["PARLEY_CONFIG"].flatMap { $0.isEmpty ? nil : $0 }
        let configuration = Configuration(
            path: path(named: file, environment: environment), isNamed: named != nil,
            environment: environment)
        if let fault = configuration.faults.first { throw fault.nodeError }
        return configuration
    }

    private mutating func readFile(_ isNamed: Bool) -> String? {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            if isNamed { faults.append(ConfigFault(path: path, what: "there is no such file")) }
            return nil
        }
        guard !isFolder.boolValue,
            // Why it cannot be read is of no use here: it cannot be used.
            let handle = try? FileHandle(forReadingFrom: URL(fileURLWithPath: path)),
            // As above.
            let bytes = try? handle.read(upToCount: Self.byteCountMax + 1)
        else {
            // An empty file reads as nothing.
            if !isFolder.boolValue, FileManager.default.isReadableFile(atPath: path) { return "" }
            faults.append(ConfigFault(path: path, what: "it cannot be read"))
            return nil
        }
        guard bytes.count <= Self.byteCountMax, let text = String(validating: bytes, as: UTF8.self)
        else {
            let what =
                bytes.count > Self.byteCountMax
                ? "it has more than \(Self.byteCountMax) bytes" : "it is not UTF-8 text"
            faults.append(ConfigFault(path: path, what: what))
            return nil
        }
        return text
    }

    private mutating func read(_ text: String) {
        let document: TOMLDocument
        do throws(TOMLDocument.Fault) {
            document = try TOMLDocument(text)
        } catch {
            faults.append(ConfigFault(path: path, place: error.place, what: error.what))
            return
        }
        for table in document.tables {
            let name = table.path.joined(separator: ".") + "."
            guard !ConfigKey.all.contains(where: { $0.name.hasPrefix(name) }) else { continue }
            let all = Set(
                ConfigKey.all.compactMap { $0.name.split(separator: ".").dropLast().first })
            let near = Spelling.nearest(
                to: String(name.dropLast()), among: all.map(String.init).sorted())
            faults.append(
                ConfigFault(
                    path: path, place: table.place,
                    what: "there is no table \(name.dropLast())"
                        + (near.map { "; was it \($0)?" } ?? "")))
        }
        for entry in document.entries { take(entry) }
    }

    private mutating func take(_ entry: TOMLDocument.Entry) {
        guard let key = ConfigKey.named(entry.name) else {
            let near = Spelling.nearest(to: entry.name, among: ConfigKey.all.map(\.name))
            faults.append(
                ConfigFault(
                    path: path, place: entry.place,
                    what: "there is no key \(entry.name)" + (near.map { "; was it \($0)?" } ?? "")))
            return
        }
        let value = ConfigValue(entry.item.value)
        let fault = value.map { key.fault(of: $0) } ?? "it takes \(key.taken)"
        if let fault {
            faults.append(
                ConfigFault(path: path, place: entry.item.place, what: "\(key.name): \(fault)"))
        } else {
            values[key.name] = value
            sources[key.name] = .file(entry.place)
        }
    }

    private mutating func take(_ text: String, of key: ConfigKey) {
        do throws(TOMLDocument.Fault) {
            let value = try key.value(typed: text)
            if let fault = key.fault(of: value) {
                faults.append(ConfigFault(path: key.variable, what: fault))
            } else {
                values[key.name] = value
                sources[key.name] = .variable
            }
        } catch {
            faults.append(ConfigFault(path: key.variable, what: error.what))
        }
    }

    // MARK: What holds

    /// The value of a key, or its default.
    func value(of key: ConfigKey) -> ConfigValue { values[key.name] ?? key.fallback }

    func source(of key: ConfigKey) -> Source { sources[key.name] ?? .usual }

    private func value(_ name: String) -> ConfigValue? {
        ConfigKey.named(name).map(value(of:))
    }

    /// Texts of a key; empty where it holds none.
    func strings(_ name: String) -> [String] {
        guard case .strings(let texts)? = value(name) else { return [] }
        return texts
    }

    /// The text of a key; empty where none was chosen.
    func text(_ name: String) -> String {
        guard case .string(let text)? = value(name) else { return "" }
        return text
    }

    func isOn(_ name: String) -> Bool { value(name) == .boolean(true) }

    func number(_ name: String) -> Int {
        guard case .integer(let number)? = value(name) else { return 0 }
        return number
    }
}

/// Something in the configuration that is wrong.
struct ConfigFault: Error, Equatable {
    /// The file, or the variable.
    var path: String
    /// Where in the file.
    var place: TOMLDocument.Place?
    /// A sentence without its end.
    var what: String

    /// `/home/ada/.config/parley/config.toml:3:9: there is no key notify.comand; was it notify.command?`
    var text: String {
        let at = place.map { ":\($0.line):\($0.column)" } ?? ""
        return "\(path)\(at): \(what)"
    }

    var nodeError: NodeError {
        NodeError("bad-config", text, hint: "`parley config check` shows all that is wrong.")
    }
}

/// Words that are nearly right.
enum Spelling {
    /// The word that one was most likely meant to be: with at most two letters of another kind, too
    /// many or missing.
    static func nearest(to word: String, among words: [String]) -> String? {
        guard word.count <= 40 else { return nil }
        let near = words.map { (name: $0, distance: distance(Array(word), Array($0))) }
        return near.filter { $0.distance <= 2 }.min { $0.distance < $1.distance }?.name
    }

    /// How many letters one has to change, add or leave out to come from one word to another.
    private static func distance(_ one: [Character], _ other: [Character]) -> Int {
        var row = Array(0...other.count)
        for (place, letter) in one.enumerated() {
            var corner = row[0]
            row[0] = place + 1
            for (index, candidate) in other.enumerated() {
                let change = corner + (letter == candidate ? 0 : 1)
                corner = row[index + 1]
                row[index + 1] = min(change, corner + 1, row[index] + 1)
            }
        }
        return row[other.count]
    }
}
