import Foundation
import ParleySimulation
import Testing

@testable import ParleySimulate

#if canImport(FoundationXML)
    import FoundationXML
#endif

@Suite("The timeline of a run")
struct TimelineTests {
    static let hostile = "</script><img src=x onerror=alert(1)>&\"' ]]> \u{1b}\u{2028}"

    private func page(name: String? = nil, text: String = "hello") throws -> String {
        let run = try RecordedRun.twoHalves(
            text: text, verdict: .init(.broken, invariant: "I4", sentence: name ?? "ann lost it"))
        return try Timeline(of: run.recording, report: run.report(name: name), story: name ?? "")
            .html()
    }

    @Test("is well formed, whatever a scenario says", arguments: ["plain", TimelineTests.hostile])
    func wellFormed(name: String) throws {
        let parser = XMLParser(data: Data(try page(name: name, text: name).utf8))
        #expect(parser.parse(), "\(parser.parserError.map { "\($0)" } ?? "")")
    }

    @Test("fetches nothing")
    func alone() throws {
        let html = try page()
        for sign in ["http:", "https:", "src=", "href", "@import", "fetch(", "XMLHttp", "import("] {
            #expect(!html.contains(sign), "\(sign)")
        }
        #expect(html.contains("default-src 'none'"))
    }

    @Test("shows what a scenario says and does not obey it")
    func escapes() throws {
        let html = try page(name: Self.hostile, text: Self.hostile)
        #expect(!html.contains("<img"))
        #expect(html.components(separatedBy: "</script>").count == 3)
        #expect(html.contains("&lt;/script&gt;&lt;img"))
        #expect(html.contains("\\u003c/script\\u003e"))
    }

    @Test("is the same page for the same run")
    func deterministic() throws {
        #expect(try page() == page())
    }
}
