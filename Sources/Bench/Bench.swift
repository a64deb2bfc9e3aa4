import Foundation
import Parley
public import ParleySearch

/// Measures a node against its budgets, between real processes and on the real disk.
///
/// Figures belong to one run: the machine is shared, so only what was measured side by side may
/// be compared. A budget stands with its figure.
public struct Bench: Sendable {
    /// What can be measured, in the order in which it is.
    public static let names = [
        "fsync", "append", "page", "bytes-disk", "latency-oneway", "latency-delivered",
        "catchup-100k", "catchup-first50", "bytes-wire", "epoch",
    ]
    /// Figures that are measured where one asks for them, by name or all as `relay`.
    public static let relayNames = RelayBench.names
    /// The same about calls, all as `calls`.
    public static let callNames = CallBench.names
    /// What hostile inputs cost, all as this.
    public static let hostileName = "hostile"
    /// What a node with very many spaces pays, all as `spaces`.
    public static let spacesNames = SpacesBench.names
    /// What files take, and messages beside them, all as `files`.
    public static let fileNames = FileBench.names
    /// The same about searching, all as `search`.
    public static let searchNames = SearchBench.names + LiveSearchBench.names

    /// Messages of the large conversation.
    static let messageCount = 100_000
    /// Bytes of one of its messages.
    static let messageByteCount = 120

    private let folder: String
    private let program: String
    private let models: ModelFolder
    private let texts: [String]
    private let fileByteCount: Int
    private let say: @Sendable (String) -> Void

    /// - Parameters:
    ///   - folder: an empty folder for the homes.
    ///   - program: the path of this program, started again as the other process.
    ///   - models: where models are installed.
    ///   - texts: what people wrote, to be searched; none for made-up words.
    ///   - fileByteCount: how large the large file is; a gibibyte without.
    ///   - say: told what is going on.
    public init(
        folder: String, program: String, models: ModelFolder, texts: [String] = [],
        fileByteCount: Int? = nil, say: @escaping @Sendable (String) -> Void
    ) {
        self.models = models
        self.texts = texts
        self.fileByteCount = fileByteCount ?? FileBench.usualByteCount
        self.folder = folder
        self.program = program
        self.say = say
    }

    private static let all =
        names + relayNames + callNames + searchNames + spacesNames + fileNames + [hostileName]
    /// Figures that are measured together, and what they are asked for by.
    private static let groups = [
        ("relay", relayNames), ("calls", callNames), ("search", searchNames),
        ("spaces", spacesNames), ("files", fileNames),
    ]

    /// The figures that these names mean, those of no others.
    private static func expanded(_ names: [String]) throws -> Set<String> {
        var wanted = Set(names.isEmpty ? Self.names : names)
        for (group, names) in groups where wanted.remove(group) != nil { wanted.formUnion(names) }
        let unknown = wanted.subtracting(all).sorted()
        guard unknown.isEmpty else {
            throw NodeError(
                "unknown-figure", "There is no figure called \(unknown.joined(separator: ", ")).",
                hint: "There are: " + (all + groups.map(\.0)).joined(separator: ", "))
        }
        return wanted
    }

    /// Measures the figures with these names, or all.
    public func run(_ names: [String]) async throws -> [Figure] {
        var wanted = try Self.expanded(names)
        var epochs = wanted.contains("epoch") ? try EpochBench.figures() : []
        if wanted.remove(Self.hostileName) != nil {
            epochs += try HostileBench.figures(folder: folder)
        }
        epochs += try SpacesBench.figures(wanted, folder: folder, say: say)
        var searches = try await SearchBench(
            folder: folder, models: models, texts: texts, say: say
        ).run(wanted)
        if wanted.contains("search-live") {
            let live = LiveSearchBench(
                folder: folder, program: program, models: models, texts: texts, say: say)
            searches += try await live.run()
        }
        let calls = try await CallBench(folder: folder, program: program, say: say).run(wanted)
        let files = try await FileBench(
            folder: folder, program: program, byteCount: fileByteCount, say: say
        ).run(wanted)
        let others = epochs + calls + searches + files
        guard
            !wanted.isSubset(
                of: Set(
                    Self.searchNames + Self.callNames + Self.spacesNames + Self.fileNames
                        + ["epoch"]))
        else { return others }
        let fsync = try Disk.fsyncSamples(in: folder, count: 500)
        var figures = [
            Figure(
                "fsync", samples: fsync, unit: "s",
                note: "4 KiB appended and fdatasync: what a durable message costs at least")
        ]
        let limit = figures[0].value
        if !wanted.isDisjoint(with: Self.names.dropFirst().filter { $0 != "epoch" }) {
            figures += try await nodes(wanted, fsync: limit)
        }
        if !wanted.isDisjoint(with: Self.relayNames) {
            let relay = RelayBench(folder: folder, program: program, say: say)
            figures += try await relay.run(wanted, fsync: limit)
        }
        return Self.all.compactMap { name in
            wanted.contains(name) ? figures.first { $0.name == name } : nil
        } + others
    }

    private func nodes(_ wanted: Set<String>, fsync: Double) async throws -> [Figure] {
        var figures: [Figure] = []
        let world = try await BenchWorld(folder: folder, program: program, say: say)
        if !wanted.isDisjoint(with: ["append", "latency-oneway", "latency-delivered"]) {
            figures += try await latencies(in: world, fsync: fsync)
        }
        if !wanted.isDisjoint(with: [
            "page", "bytes-disk", "catchup-100k", "catchup-first50", "bytes-wire",
        ]) {
            figures += try await catchUp(in: world)
        }
        await world.end()
        return figures
    }

    private func latencies(in world: BenchWorld, fsync: Double) async throws -> [Figure] {
        say("sending 500 messages, one after the other, to another process")
        let result = try await world.pingPong(count: 500)
        return [
            Figure(
                "append", samples: result.append, unit: "s", budget: fsync + 100e-6, limit: fsync,
                note: "command to durable; the limit is one fsync"),
            Figure(
                "latency-oneway", samples: result.shown, unit: "s", budget: 2 * fsync + 500e-6,
                limit: fsync,
                note: "command here to shown there: one fsync here, a commit there"),
            Figure(
                "latency-delivered", samples: result.delivered, unit: "s", limit: 2 * fsync,
                note: "command here until the other disk's acknowledgement is back: two fsyncs"),
        ]
    }

    private func catchUp(in world: BenchWorld) async throws -> [Figure] {
        say("writing \(Self.messageCount) messages")
        try await world.fill(count: Self.messageCount, byteCount: Self.messageByteCount)
        let pages = try await world.pageSamples(count: 200)
        let disk = try await world.bytesOnDisk()
        say("catching up in another process")
        let result = try await world.catchUp()
        let count = Double(Self.messageCount)
        let text = Double(Self.messageByteCount)
        return [
            Figure(
                "page", samples: pages, unit: "s", budget: 1e-3,
                note: "the newest 50 of \(Self.messageCount), opened and with reactions looked up"),
            Figure(
                "bytes-disk", samples: [disk / count], unit: "bytes", budget: 450, limit: text,
                note: "all files of the home, for each message of \(Int(text)) bytes"),
            Figure(
                "catchup-100k", samples: [result.whole], unit: "s", budget: 1.2,
                limit: count / 500_000,
                note: "dial to all stored; verified by hash, sealed, views included; "
                    + "the limit is two hashes an operation"),
            Figure(
                "catchup-first50", samples: [result.first50], unit: "s", budget: 0.2,
                note: "dial to the newest 50 readable"),
            Figure(
                "bytes-wire", samples: [result.bytes / count], unit: "bytes", budget: 120,
                limit: text,
                note:
                    "all bytes received, for each message of \(Int(text)) bytes; runs are compressed"
            ),
        ]
    }
}

/// What the disk allows.
enum Disk {
    /// Seconds that appending 4 KiB and syncing takes, again and again.
    static func fsyncSamples(in folder: String, count: Int) throws -> [Double] {
        let path = folder + "/fsync"
        let file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0o600)
        guard file >= 0 else { throw NodeError("disk", "Cannot write in \(folder).") }
        defer {
            close(file)
            unlink(path)
        }
        let block = [UInt8](repeating: 7, count: 4096)
        return (0..<count).map { _ in
            let start = seconds()
            _ = block.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
            fdatasync(file)
            return seconds() - start
        }
    }
}
