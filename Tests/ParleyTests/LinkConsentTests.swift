import Synchronization
import Testing

@testable import Parley

@Suite("A device that the page links", .timeLimit(.minutes(3)))
struct LinkConsentTests {
    private static let text = DeviceLinkView(text: "parley-device:1:AAAA", expires: 7)

    private func code(of body: () throws -> Void) -> String? {
        do {
            try body()
            return nil
        } catch { return (error as? NodeError)?.code }
    }

    @Test(
        "Attack 339: no text is given before the very code was named, in time, outside of the page")
    func code339() throws {
        let time = Mutex<UInt64>(1_000)
        let consent = LinkConsent { (time.withLock { $0 }, time.withLock { $0 }) }
        #expect(code { _ = try consent.link("") } == "unknown-code")
        let first = try #require(consent.ask().code)
        let second = try #require(consent.ask().code)
        #expect(second.utf8.count == 6 && second.utf8.allSatisfy { (0x30...0x39).contains($0) })
        #expect(try consent.link(second).text.isEmpty)
        for wrong in ["", second + "0", first == second ? "x" : first] {
            #expect(code { try consent.confirm(wrong) { Self.text } } == "unknown-code")
            #expect(code { _ = try consent.link(wrong) } == "unknown-code")
        }
        #expect(try consent.link(second).text.isEmpty)
        try consent.confirm(second) { Self.text }
        #expect(try consent.link(second).text == Self.text.text)
        // Confirmed twice it begins once.
        try consent.confirm(second) { DeviceLinkView(text: "another", expires: 7) }
        #expect(try consent.link(second).text == Self.text.text)
        consent.end()
        #expect(code { _ = try consent.link(second) } == "unknown-code")
        let late = try #require(consent.ask().code)
        time.withLock { $0 += LinkConsent.timeMax }
        #expect(code { try consent.confirm(late) { Self.text } } == "unknown-code")
    }

    @Test("Attack 339: until then no device is waited for; then one is linked as ever")
    func linked339() async throws {
        let folder = try TemporaryFolder()
        let (ben, _) = try await Node.create(NodeSettings(home: folder.home("ben")), name: "ben")
        // Where no device could come, nobody is asked.
        let refused = await #expect(throws: NodeError.self) {
            try await ben.perform(StartPairing(waits: true))
        }
        #expect(refused?.code == "not-listening")
        try await ben.start(listen: ["127.0.0.1:0"])
        let asked = try await ben.perform(StartPairing(waits: true))
        let code = try #require(asked.code)
        #expect(asked.text.isEmpty)
        #expect(try await ben.perform(GetPairing(code: code)).text.isEmpty)
        try await ben.perform(ConfirmPairing(code: code))
        let text = try await ben.perform(GetPairing(code: code)).text
        let phone = try await Node.join(
            NodeSettings(home: folder.home("phone")), text: text, name: "phone")
        #expect(try await ben.perform(ListDevices()).count == 2)
        await phone.shutdown()
        await ben.shutdown()
    }
}
