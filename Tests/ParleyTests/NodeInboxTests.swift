@testable import Parley
import ParleyNodeCore
import ParleySealing
import ParleyWire
import Testing

@Suite("What waits to be stepped")
struct NodeInboxTests {
    /// An inbox that is changed within an expectation.
    private final class Box {
        private var inbox = NodeInbox()
        var isEmpty: Bool { inbox.isEmpty }
        var byteCount: Int { inbox.byteCount }
        var beginsOwn: Bool { inbox.beginsOwn }
        func add(_ input: Input) { inbox.add(input) }
        func next(mayBeOwn: Bool = true) -> Input? { inbox.next(mayBeOwn: mayBeOwn) }
        func hasRoom(_ link: UInt64) -> Bool { inbox.hasRoom(for: .link(LinkID(link))) }
        func hold(_ link: UInt64, _ isHeld: Bool) { inbox.hold(.link(LinkID(link)), isHeld) }
        func end(_ link: UInt64) { inbox.end(LinkID(link)) }
        func freed() -> [UInt64] {
            inbox.takeFreed().map { if case .link(let link) = $0 { link.rawValue } else { 0 } }
        }
    }

    private func frame(_ link: UInt64, _ byte: UInt8, count: Int = 1) -> Input {
        .frame(LinkID(link), [UInt8](repeating: byte, count: count))
    }

    private func links(_ inbox: Box, _ count: Int) -> [UInt64] {
        (0..<count).compactMap { _ in
            switch inbox.next() {
            case .frame(let link, _), .linkClosed(let link): link.rawValue
            default: nil
            }
        }
    }

    @Test("gives each link its turn, however much another sends")
    func turns() {
        let inbox = Box()
        for number in 0..<100 { inbox.add(frame(1, UInt8(number))) }
        inbox.add(frame(2, 0))
        inbox.add(frame(3, 0))
        #expect(links(inbox, 5) == [1, 2, 3, 1, 1])
    }

    @Test("puts timers and commands before frames, and starves neither")
    func urgent() {
        let inbox = Box()
        for number in 0..<20 { inbox.add(frame(1, UInt8(number))) }
        for _ in 0..<20 { inbox.add(.timer(.announce)) }
        var kinds = ""
        while let input = inbox.next() {
            if case .timer = input { kinds += "t" } else { kinds += "f" }
        }
        let turn = String(repeating: "t", count: NodeInbox.urgentCountMax) + "f"
        #expect(kinds == turn + turn + "tttt" + String(repeating: "f", count: 18))
    }

    @Test("is full after so many frames or bytes, and says when there is room again")
    func room() {
        let inbox = Box()
        var count = 0
        while inbox.hasRoom(1) {
            inbox.add(frame(1, 0))
            count += 1
        }
        #expect(count == NodeInbox.senderInputCountMax)
        #expect(inbox.hasRoom(2))
        inbox.add(frame(2, 0, count: Limits.frameByteCountMax))
        inbox.add(frame(2, 0, count: Limits.frameByteCountMax))
        #expect(!inbox.hasRoom(2))
        #expect(inbox.freed().isEmpty)
        _ = links(inbox, 4)
        #expect(inbox.freed() == [2])
        _ = links(inbox, count)
        #expect(inbox.freed() == [1])
        #expect(inbox.freed().isEmpty && inbox.isEmpty && inbox.byteCount == 0)
    }

    @Test("Attack 294: pages that a relay gives count for what they hold, as what it pushes does")
    func pages() throws {
        var random = SystemRandom()
        let relay = DeviceNoiseKey.generate(using: &random).publicKey
        var inbox = NodeInbox()
        let page = (1...2).map { counter in
            RelayEntry(
                counter: counter,
                envelope: [UInt8](repeating: 1, count: Limits.envelopeByteCountMax))
        }
        var count = 0
        while inbox.hasRoom(for: .relay(relay)) {
            let answer = RelayAnswer.entries(page, hasMore: true, newest: 2)
            inbox.add(.relay(relay, .answered(UInt64(count), answer)))
            count += 1
        }
        let held = count * 2 * Limits.envelopeByteCountMax
        #expect(held <= NodeInbox.senderByteCountMax + 2 * Limits.envelopeByteCountMax)
        #expect(inbox.byteCount >= held)
        while inbox.next() != nil {}
        #expect(inbox.byteCount == 0)
    }

    @Test("bounds what all links together leave waiting")
    func together() {
        let inbox = Box()
        var link: UInt64 = 0
        while inbox.byteCount < NodeInbox.byteCountMax {
            link += 1
            inbox.add(frame(link, 0, count: Limits.frameByteCountMax))
        }
        #expect(!inbox.hasRoom(1))
        // Whoever has nothing waiting may still be heard.
        #expect(inbox.hasRoom(link + 1))
        _ = links(inbox, 1)
        #expect(inbox.freed() == [1])
    }

    @Test("drops what came on a link that is ended here, and tells its end all the same")
    func ends() {
        let inbox = Box()
        for number in 0..<50 { inbox.add(frame(1, UInt8(number))) }
        inbox.end(1)
        #expect(inbox.isEmpty && inbox.byteCount == 0)
        inbox.add(frame(1, 51))
        #expect(inbox.isEmpty)
        inbox.add(.linkClosed(LinkID(1)))
        inbox.add(frame(2, 0))
        #expect(links(inbox, 3) == [1, 2])
    }

    @Test("keeps what came before a peer closed its link")
    func peerCloses() {
        let inbox = Box()
        for number in 0..<3 { inbox.add(frame(1, UInt8(number))) }
        inbox.hold(1, true)
        #expect(inbox.isEmpty)
        inbox.add(.linkClosed(LinkID(1)))
        #expect(links(inbox, 5) == [1, 1, 1, 1])
        #expect(inbox.hasRoom(1) && inbox.isEmpty)
    }

    @Test("takes nothing of a peer that does not read what it is sent")
    func held() {
        let inbox = Box()
        inbox.add(frame(1, 0))
        inbox.hold(1, true)
        inbox.add(frame(1, 1))
        inbox.add(frame(2, 0))
        #expect(links(inbox, 5) == [2])
        #expect(!inbox.hasRoom(1))
        inbox.hold(1, false)
        #expect(inbox.freed() == [1])
        #expect(links(inbox, 5) == [1, 1])
    }

    @Test("lets nothing that must be durable into a transaction that is not")
    func own() {
        let inbox = Box()
        inbox.add(.timer(.announce))
        inbox.add(.started)
        #expect(!inbox.beginsOwn)
        #expect(inbox.next(mayBeOwn: false) != nil)
        #expect(inbox.next(mayBeOwn: false) == nil)
        #expect(inbox.beginsOwn && inbox.next() != nil && inbox.next() == nil)
    }
}
