import Foundation
import ParleyRelaying
import ParleyTransport
import ParleyWire
import Testing

@testable import RelayServerTests

@Suite("The command relay run", .timeLimit(.minutes(5)))
struct RelayCommandTests {
    @Test(
        "refuses options that make no sense, in two lines, and makes no folder",
        arguments: [
            ["--listen", "nowhere"], ["--listen", "a:70000"], ["--announce", "x"],
            ["--metrics", "0.0.0.0:9100"], ["--metrics", "x"], ["--capacity", "0"],
            ["--capacity", "many"], ["--mailbox", "0"], ["--mailbox", "70000"], ["--home", ""],
            ["--no-pipe"],
        ])
    func misuse(options: [String]) async throws {
        let folder = try ScratchFolder()
        let home = folder.path + "/relay"
        let program = try Program(["relay", "run", "--home", home] + options)
        #expect(try await program.ended() == 64)
        let lines = program.output.split(separator: "\n")
        #expect(lines.first?.hasPrefix("parley: error: ") == true, "\(program.output)")
        #expect(lines.last?.hasPrefix("parley: hint: ") == true, "\(program.output)")
        #expect(!FileManager.default.fileExists(atPath: home))
    }

    @Test("says that a port is taken, and that a folder is in use")
    func taken() async throws {
        let folder = try ScratchFolder()
        let relay = try await RelayProcessTests.RelayProcess(home: folder.path + "/relay")
        let second = try Program([
            "relay", "run", "--home", folder.path + "/second", "--listen", "\(relay.endpoint)",
        ])
        #expect(try await second.ended() == 1)
        #expect(second.output.contains("parley: error: "))
        #expect(second.output.contains("Add --listen to name another address."), "\(second.output)")
        #expect(
            second.output.contains(
                "Cannot listen on \(relay.endpoint): another program is already listening there."),
            "\(second.output)")
        let third = try Program([
            "relay", "run", "--home", folder.path + "/relay", "--listen", "127.0.0.1:0",
        ])
        #expect(try await third.ended() == 1)
        #expect(third.output.contains("parley: error: "))
        relay.program.signal(SIGTERM)
        #expect(try await relay.program.ended() == 0)
    }

    /// Once each took the other's file `key` for its own.
    @Test("refuses the home of a node, as a node refuses that of a relay")
    func homes() async throws {
        let folder = try ScratchFolder()
        let (node, relay) = (folder.path + "/node", folder.path + "/relay")
        #expect(try await Program.run("init", "--name", "ann", "--home", node).status == 0)
        let key = try Data(contentsOf: URL(filePath: node + "/key"))
        for words in [["run", "--listen", "127.0.0.1:0"], ["ticket", "new"]] {
            let program = try Program(["relay"] + words + ["--home", node])
            #expect(try await program.ended() == 1, "\(program.output)")
            #expect(program.output.contains("is the home of a node"), "\(program.output)")
            #expect(program.output.contains("hint: --home names another"), "\(program.output)")
        }
        #expect(!FileManager.default.fileExists(atPath: node + "/relay.sqlite"))
        #expect(try Data(contentsOf: URL(filePath: node + "/key")) == key)
        #expect(try await Program.run("status", "--home", node).status == 0)
        #expect(try await Program.run("relay", "ticket", "new", "--home", relay).status == 0)
        let made = try await Program.run("init", "--name", "ben", "--home", relay)
        #expect(made.status == 1, "\(made.output)")
        #expect(made.output.contains("is the home of a relay"), "\(made.output)")
        #expect(!FileManager.default.fileExists(atPath: relay + "/keystore"))
    }

    @Test("tells its figures, joins nobody where it shall not, and says goodbye on SIGTERM")
    func run() async throws {
        let folder = try ScratchFolder()
        let program = try Program([
            "relay", "run", "--home", folder.path + "/relay", "--listen", "127.0.0.1:0",
            "--metrics", "127.0.0.1:0", "--no-pipes",
        ])
        try await program.says("Ctrl-C stops the relay")
        let lines = program.output.split(separator: "\n").map(String.init)
        let text = try RelayText(
            text: try #require(lines.first { $0.hasPrefix("parley-relay:") }))
        let figures = try #require(lines.first { $0.hasPrefix("metrics on ") })
        let transport = Transport()
        let ada = try await RelayCaller.call(
            text.key, at: try Endpoint(text.addresses[0]), over: transport)
        let ben = try await RelayCaller.call(
            text.key, at: try Endpoint(text.addresses[0]), over: transport)
        let inbox = RelayServerTests.access()
        _ = try await ada.ask(.open(writers: nil, ticket: nil), as: inbox)
        _ = try await ada.ask(.subscribe, as: inbox)
        #expect(try await ben.ask(.pipe, as: inbox) == .refused(.nobodyThere))
        let page = try await RelayServerTests.fetch(
            try Endpoint(String(figures.dropFirst("metrics on ".count))), over: transport)
        #expect(page.contains("parley_relay_requests_total{action=\"pipe\"} 1"))
        program.signal(SIGTERM)
        for caller in [ada, ben] {
            await caller.until { _ in false }
            #expect(caller.events.last == .leaving(retryAfter: 5000))
        }
        #expect(try await program.ended() == 0)
        await transport.shutdown()
    }
}
