import Parley
import Testing

@testable import parley

@Suite("QR codes on a terminal")
struct QRCodeTerminalTests {
    @Test("stand on a terminal in half as many lines, with light around")
    func lines() throws {
        let code = try #require(QRCode("parley-device:1:QWxs"))
        #expect(code.lines.count == (25 + 4 + 1) / 2)
        #expect(code.lines.allSatisfy { $0.hasPrefix("\u{1B}[") && $0.hasSuffix("\u{1B}[0m") })
    }
}
