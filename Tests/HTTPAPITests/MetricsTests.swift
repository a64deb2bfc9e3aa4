import Foundation
import Testing

@testable import LocalAPITests
@testable import Parley
@testable import ParleyHTTPAPI

@Suite("Metrics", .timeLimit(.minutes(3)))
struct MetricsTests {
    /// Reads the text as Prometheus does, and prints each sample; ends with 3 where that is not installed.
    private static let parser = """
        import sys
        try:
            from prometheus_client.openmetrics.parser import text_string_to_metric_families
        except ImportError:
            sys.exit(3)
        for family in text_string_to_metric_families(open(sys.argv[1]).read()):
            for sample in family.samples:
                print(family.type, family.unit, sample.name, sample.labels, sample.value)
        """

    /// The text of a node that refused two things of one kind, and one of an unruly name.
    private static func text() async throws -> String {
        let stand = try await Stand()
        stand.node.answer(GetStatus.self) { _, _ in
            var status = FakeNode.status
            status.refusals["a \"quoted\\\nword\""] = 1
            return status
        }
        stand.node.answer(ListOutbox.self) { _, _ in [] }
        let found = try await stand.ask("GET /metrics", token: stand.token(.read))
        await stand.server.stop()
        #expect(found.status == 200)
        #expect(
            found.fields["content-type"]
                == "application/openmetrics-text; version=1.0.0; charset=utf-8")
        return found.body
    }

    @Test("end as they must, and name each family once, with its type, before its samples")
    func form() async throws {
        let text = try await Self.text()
        #expect(text.hasSuffix("\n# EOF\n"))
        #expect(text.contains("\nparley_operations 3\n"))
        #expect(text.contains("\nparley_refusals_total{reason=\"badSignature\"} 2\n"))
        #expect(text.contains("{reason=\"a \\\"quoted\\\\\\nword\\\"\"} 1\n"))
        let types = text.split(separator: "\n").filter { $0.hasPrefix("# TYPE ") }
        #expect(types.count > 20 && Set(types).count == types.count)
        // No name of a person, a device or a place is in it.
        for word in ["ada", "ben", "/home", "192.0.2.1"] {
            #expect(!text.contains(word), "\(word)")
        }
    }

    @Test("are read by the parser of Prometheus, where that is installed")
    func parsed() async throws {
        let home = try TemporaryHome()
        let file = home.path + "/metrics"
        try await Self.text().write(toFile: file, atomically: true, encoding: .utf8)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", "-c", Self.parser, file]
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        // No python3, or without that package.
        if [127, 3].contains(process.terminationStatus) { return }
        let told = String(decoding: output, as: UTF8.self)
        #expect(process.terminationStatus == 0, "\(told)")
        #expect(told.contains("gauge bytes parley_database_bytes {} 4096"), "\(told)")
        #expect(told.contains("counter bytes parley_link_sent_bytes_total {} 1500"), "\(told)")
        #expect(told.contains("counter  parley_refusals_total {'reason': 'badSignature'} 2"))
        #expect(told.contains("info  parley_build_info {'version': '0.1.0'} 1"))
    }
}
