import Foundation
import ParleyRelaying
import ParleySealing
import ParleyTransport
import ParleyWire
import Testing

@testable import RelayServerTests

/// A client of a relay that says what it likes.
private struct HostileCaller {
    private let socket: FloodSocket
    private var link: RelayLink

    var isOpen: Bool { socket.isOpen }

    /// Connects and shakes hands; nil where the relay does not let it.
    init?(_ key: NoiseKey, port: UInt16, from source: UInt32, while goesOn: () -> Bool) {
        guard let socket = FloodSocket(port: port, from: source) else { return nil }
        self.socket = socket
        var random = SystemRandom()
        link = RelayLink(callingRelay: key, network: .main, using: &random)
        socket.write(link.start(), while: goesOn)
        while !link.isOpen {
            guard goesOn(), socket.isOpen,
                // What does not hold is not a relay's answer: it ends here as well.
                let events = try? link.receive(socket.read()[...])
            else { return nil }
            for case .send(let bytes) in events { socket.write(bytes, while: goesOn) }
        }
    }

    mutating func send(_ frames: [[UInt8]], while goesOn: () -> Bool) {
        socket.write(link.seal(frames), while: goesOn)
    }
}

@Suite("A relay that is flooded", .serialized, .timeLimit(.minutes(5)))
struct RelayFloodTests {
    /// Connections of one address: fewer than it may have, so that another client has one.
    private static let connectionCount = 48

    @Test(
        "Attack 331: tiny frames that ask for nothing, over many connections of an address",
        arguments: [
            .ping, .pipe(.closed(7)), .pipe(.credit(7, 1)), .pipe(.bytes(7, [])),
        ] as [RelayClientFrame])
    func tinyFrames(frame: RelayClientFrame) async throws {
        let folder = try ScratchFolder()
        let program = try Program([
            "relay", "run", "--home", folder.path + "/relay", "--listen", "127.0.0.1:0",
        ])
        try await program.says("Ctrl-C stops the relay")
        let line = program.output.split(separator: "\n").first { $0.hasPrefix("parley-relay:") }
        let text = try RelayText(text: String(try #require(line)))
        let endpoint = try Endpoint(try #require(text.addresses.first))
        let flood = Flood()
        // As many as fit one record.
        let bytes = frame.encoded()
        let frames = [[UInt8]](repeating: bytes, count: 65_000 / (bytes.count + 4))
        for _ in 0..<Self.connectionCount {
            flood.begin { flood in
                let goesOn = { flood.goesOn }
                let caller = HostileCaller(
                    text.key, port: endpoint.port, from: 0x7F00_0009, while: goesOn)
                // As often as somebody may try again who is not let in.
                guard var caller else { return Thread.sleep(forTimeInterval: 0.05) }
                while caller.isOpen, goesOn() {
                    caller.send(frames, while: goesOn)
                    flood.counted(frames.count)
                }
            }
        }
        let longest = try await serve(text.key, at: endpoint)
        await flood.end()
        let resident = try residentByteCountMax(of: program.processID)
        print(
            "\(frame): \(flood.total) sent; at most \(resident >> 20) MiB, answers in \(longest)")
        #expect(resident < Bearable.residentByteCount)
        #expect(longest < Bearable.delivery)
        program.signal(SIGTERM)
        #expect(try await program.ended() == 0)
    }

    /// Calls and asks as any client does while a flood goes on. Returns the longest wait.
    private func serve(_ key: NoiseKey, at endpoint: Endpoint) async throws -> Duration {
        let transport = Transport()
        let clock = ContinuousClock()
        let end = clock.now + Endurance.time
        var longest = Duration.zero
        while clock.now < end {
            let began = clock.now
            let caller = try await RelayCaller.call(key, at: endpoint, over: transport)
            let drop = RelayServerTests.access()
            let opened = try await caller.ask(.open(writers: nil, ticket: nil), as: drop)
            if case .opened = opened {} else { Issue.record("\(opened)") }
            longest = max(longest, clock.now - began)
            caller.hangUp()
        }
        await transport.shutdown()
        return longest
    }

    private func residentByteCountMax(of process: Int32) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM") })
        return 1024 * (Int(line.split(separator: " ").dropLast().last ?? "") ?? 0)
    }
}
