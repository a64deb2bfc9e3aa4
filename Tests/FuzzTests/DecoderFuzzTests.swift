import Foundation
import Testing

@Suite("Decoders under mutated bytes")
struct DecoderFuzzTests {
    static let all: [Decoder] = [
        Decoder.wire, Decoder.files, Decoder.relay, Decoder.sealing, Decoder.payloads,
        Decoder.control,
        Decoder.devices, Decoder.node, Decoder.home, Decoder.signalling,
    ].flatMap { (list: [Decoder]) in list }

    /// A trap ends the process; the seed is printed first, and the same seed gives the same inputs.
    @Test(
        "Attack 56: no decoder traps, and what one accepts it writes again the same",
        arguments: FuzzPlan.chosen(of: all))
    func mutated(decoder: Decoder) throws {
        let report = try FuzzPlan.run(decoder, for: FuzzPlan.seconds)
        let sentence =
            "\(decoder.name), seed \(FuzzPlan.seed): \(report.inputCount) inputs, "
            + "\(report.acceptedCount) accepted, slowest \(report.slowest) us"
        if FuzzPlan.seconds >= 1 { print(sentence) }
        #expect(report.inputCount > 0)
        #expect(report.respelled == nil, "\(sentence)")
        for input in try decoder.inputs() { #expect(decoder.decode(input) != nil, "\(sentence)") }
    }

    @Test("every decoder is fed once, under a name of its own")
    func names() {
        #expect(Set(Self.all.map(\.name)).count == Self.all.count)
        let files = Self.all.flatMap(\.sources.keys)
        #expect(Set(files).count == files.count)
    }

    /// In a process of its own, so that the highest memory it ever used is the decoder's alone.
    @Test("Attack 56: no decoder takes more memory than its limits allow")
    func memory() async {
        let child = await #expect(
            processExitsWith: .success, observing: [\.standardOutputContent]
        ) {
            for decoder in FuzzPlan.chosen(of: DecoderFuzzTests.all) {
                // What is made once, and the pool of inputs, is not the decoder's.
                _ = try FuzzPlan.run(decoder, for: 0.1, atMost: 50)
                let before = Memory.resetPeak()
                let report = try FuzzPlan.run(
                    decoder, for: min(1, FuzzPlan.seconds / 3), atMost: 20_000)
                let grown = Memory.peak() - before
                let verdict = grown < Memory.growthMax ? "within" : "beyond"
                print("\(verdict) \(decoder.name): \(grown >> 10) KiB, \(report.inputCount) inputs")
            }
            fflush(nil)
        }
        let lines = String(decoding: child?.standardOutputContent ?? [], as: UTF8.self)
            .split(separator: "\n")
        FuzzPlan.tell(lines.joined(separator: "\n"))
        #expect(lines.count { $0.hasPrefix("within") } > 0)
        #expect(lines.filter { $0.hasPrefix("beyond") } == [])
    }
}

/// What the process holds in memory, as the kernel counts it. In bytes.
private enum Memory {
    /// The pool of 64 inputs of at most 320 KiB, an input and its copies, and what one frame may
    /// open to, many times over; a length that is believed asks for gigabytes.
    static let growthMax = 96 << 20

    /// Forgets the peak, and returns what is held now.
    static func resetPeak() -> Int {
        // Where that is not allowed the older peak counts, and the test proves less.
        try? Data("5".utf8).write(to: URL(fileURLWithPath: "/proc/self/clear_refs"))
        return status("VmRSS:")
    }

    static func peak() -> Int { status("VmHWM:") }

    private static func status(_ field: String) -> Int {
        let text =
            FileManager.default.contents(atPath: "/proc/self/status")
            .map { String(decoding: $0, as: UTF8.self) } ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix(field) } ?? ""
        return (Int(line.filter(\.isNumber)) ?? 0) * 1024
    }
}
