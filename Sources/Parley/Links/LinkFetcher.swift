import Dispatch
import Foundation
import ParleyFiles
import ParleyWire
import Synchronization

/// Fetches a page for its author, by `curl` in a cage.
///
/// A name is resolved here, once for each step; its addresses are checked, and the program is told
/// to call the very one that was checked. So no second answer of a name leads it elsewhere.
struct LinkFetcher: Sendable {
    /// Redirects that are followed.
    static let redirectCountMax = 3
    /// How much of a page is read: its description of itself is at its beginning.
    static let pageByteCountMax = 512 << 10
    /// A picture.
    static let pictureByteCountMax = 2 << 20
    /// Everything together, resolving and redirects among it.
    static let time: Duration = .seconds(10)
    private static let headByteCountMax = 64 << 10

    /// The received bytes.
    struct Found {
        var address: LinkAddress
        /// As its server says, without its parameters, in small letters.
        var type: String
        var bytes: [UInt8]
    }

    /// Tests resolve names as they please.
    var resolve: @Sendable (String) -> [MachineAddress] = MachineAddress.resolve
    /// Tests call their own machine; nobody else may.
    var isAllowed: @Sendable (MachineAddress, UInt16) -> Bool = { machine, port in
        machine.isPublic && (port == 80 || port == 443)
    }
    var folders = CagedProgram.folders

    /// Fetches the content of an address. It blocks.
    ///
    /// - Parameter types: the accepted types.
    func fetch(
        _ start: LinkAddress, _ types: [String], atMost byteCountMax: Int, isWhole: Bool,
        until end: ContinuousClock.Instant
    ) throws(LinkFailure) -> Found {
        var address = start
        for _ in 0...Self.redirectCountMax {
            let answer = try call(address, byteCountMax, until: end)
            if [301, 302, 303, 307, 308].contains(answer.status) {
                guard let place = answer.field("location") else { throw .notTaken }
                address = try address.resolving(place)
                continue
            }
            let type = answer.field("content-type")?.prefix { $0 != ";" } ?? ""
            let found = type.trimmingCharacters(in: .whitespaces).lowercased()
            // Compressed content could expand to any size.
            guard answer.status == 200, types.contains(found),
                ["", "identity"].contains(answer.field("content-encoding")?.lowercased() ?? ""),
                !isWhole || answer.body.count <= byteCountMax
            else { throw .notTaken }
            return Found(
                address: address, type: found, bytes: Array(answer.body.prefix(byteCountMax)))
        }
        throw .tooManyRedirects
    }

    private func call(
        _ address: LinkAddress, _ byteCountMax: Int, until end: ContinuousClock.Instant
    ) throws(LinkFailure) -> LinkAnswer {
        guard let curl = CagedProgram("curl", in: folders) else { throw .noProgram }
        let machine = try machine(for: address, until: end)
        let left = end - ContinuousClock.now
        guard left > .zero else { throw .unreachable }
        var bounds = CagedProgram.Bounds()
        (bounds.port, bounds.time) = (address.port, left)
        bounds.outputByteCount = Self.headByteCountMax + byteCountMax
        let called = if case .v6 = machine { "[\(machine)]" } else { "\(machine)" }
        let words = [
            // No settings of the person's: the first word, or it does not count.
            "--disable", "--silent", "--include", "--globoff", "--path-as-is", "--http1.1",
            "--proto", "=http,https", "--noproxy", "*", "--max-redirs", "0", "--tlsv1.2",
            "--connect-timeout", "5", "--max-time", "\(max(1, left / .seconds(1)))",
            "--user-agent", "Parley (preview of a link, for its author)", "--config",
            CagedProgram.input,
        ]
        // Other users of this machine see a program's arguments, so this one reads from its input
        // where it calls. No host that was looked up has a character that means more in there.
        let told = """
            url = "\(address.text)"
            resolve = "\(address.host):\(address.port):\(called)"

            """
        var output: [UInt8] = []
        do {
            let input = try MemoryFile(Array(told.utf8))
            try curl.run(words, input: input.descriptor, bounds: bounds) { output += $0 }
        } catch CageFailure.tooMuch {
            // The beginning is enough, or the size already says that it is too large.
        } catch { throw .unreachable }
        guard let answer = LinkAnswer(output, headByteCountMax: Self.headByteCountMax) else {
            throw .notTaken
        }
        return answer
    }

    /// The machine to call: one that was looked at.
    private func machine(
        for address: LinkAddress, until end: ContinuousClock.Instant
    ) throws(LinkFailure) -> MachineAddress {
        if let machine = address.machine {
            guard isAllowed(machine, address.port) else { throw .notPublic }
            return machine
        }
        let found = resolved(address.host, within: end - ContinuousClock.now)
        guard !found.isEmpty else { throw .noSuchName }
        // One that leads into an own network as well is up to no good.
        guard found.allSatisfy({ isAllowed($0, address.port) }) else { throw .notPublic }
        return found[0]
    }

    /// The system's resolver has no deadline: one that is late is not waited for.
    private func resolved(_ name: String, within time: Duration) -> [MachineAddress] {
        let names = ResolvedNames()
        let resolve = resolve
        Thread.detachNewThread { names.set(resolve(name)) }
        return names.wait(time)
    }
}

/// The result of a thread, for another one that waits for it.
private final class ResolvedNames: Sendable {
    private let found = Mutex<[MachineAddress]>([])
    private let isThere = DispatchSemaphore(value: 0)

    func set(_ addresses: [MachineAddress]) {
        found.withLock { $0 = addresses }
        isThere.signal()
    }

    func wait(_ time: Duration) -> [MachineAddress] {
        let milliseconds = max(0, Int(time / .milliseconds(1)))
        _ = isThere.wait(timeout: .now() + .milliseconds(milliseconds))
        return found.withLock { $0 }
    }
}

/// A server's answer: a status, fields, and a body.
struct LinkAnswer {
    /// Longer lines are passed over: an address is the longest that counts.
    private static let lineByteCountMax = Limits.linkAddressByteCountMax + 64

    private(set) var status = 0
    private var fields: [(name: String, value: String)] = []
    private(set) var body: ArraySlice<UInt8> = []

    /// Parses the head of an answer; nil if it is invalid, or too long.
    init?(_ bytes: [UInt8], headByteCountMax: Int) {
        var rest = bytes[...]
        // Some say something before they answer.
        repeat {
            guard let end = rest.prefix(headByteCountMax).firstRange(of: [13, 10, 13, 10]) else {
                return nil
            }
            guard read(rest[..<end.lowerBound]) else { return nil }
            rest = rest[end.upperBound...]
        } while (100...199).contains(status)
        body = rest
    }

    private mutating func read(_ head: ArraySlice<UInt8>) -> Bool {
        // Bytes are counted before a line is a text: characters may be of any size, and slow to compare.
        let lines = head.split(separator: 10).map { $0.last == 13 ? $0.dropLast() : $0 }
            .filter { $0.count <= Self.lineByteCountMax }
        guard let first = lines.first.map({ String(decoding: $0, as: UTF8.self) }),
            first.hasPrefix("HTTP/"), lines.count <= 200,
            let status = first.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
        else { return false }
        self.status = status
        fields = lines.dropFirst().compactMap { line in
            guard let colon = line.firstIndex(of: 0x3A), line[..<colon].allSatisfy({ $0 < 0x80 })
            else { return nil }
            let name = String(decoding: line[..<colon], as: UTF8.self)
            let value = String(decoding: line[line.index(after: colon)...], as: UTF8.self)
            return (name.lowercased(), value.trimmingCharacters(in: .whitespaces))
        }
        return true
    }

    /// A field by its name in small letters: the first of them.
    func field(_ name: String) -> String? { fields.first { $0.name == name }?.value }
}
