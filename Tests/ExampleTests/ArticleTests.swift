import Foundation
import Testing

@Suite("The articles about the library and the simulator")
struct ArticleTests {
    static let example = "Simulations/Example/Tests/PartitionTests/PartitionTests.swift"
    static let articles = "Simulations/Harness/ParleySimulation.docc"

    @Test(
        "the example is the code that is tested",
        arguments: ["README.md", "\(articles)/Testing-partitions.md"])
    func example(page: String) throws {
        let code = try Pages.text(Self.example)
        #expect(try Pages.code(in: page).contains(code), "\(page) shows another example")
    }

    @Test("the example takes less than 15 lines")
    func short() throws {
        let lines = try Pages.text(Self.example).split(separator: "\n")
        let first = try #require(lines.firstIndex { $0.hasPrefix("@Test") })
        #expect(lines[first...].count < 15)
    }

    @Test(
        "of the library: every line of code stands in what is run by a test",
        arguments: [
            ("An-app-of-your-own", "Tests/ParleyTests/AppExampleTests.swift"),
            ("A-bot-in-ten-minutes", "Tests/BotTests/Echo.swift"),
        ])
    func lines(article: String, file: String) throws {
        let known = Set(Pages.lines(of: try Pages.text(file)))
        let shown = try Pages.code(in: "Sources/Parley/Parley.docc/\(article).md")
            .flatMap(Pages.lines)
        #expect(shown.count > 10)
        for line in shown { #expect(known.contains(line), "\(article): \(line)") }
    }

    @Test(
        "every line of code stands in a test",
        arguments: ["Testing-partitions.md", "Faults.md"])
    func lines(article: String) throws {
        let folder = "Simulations/Example/Tests/PartitionTests"
        let names = try FileManager.default.contentsOfDirectory(
            atPath: Pages.root.appendingPathComponent(folder).path)
        let tested =
            try names.map { try Pages.text("\(folder)/\($0)") }
            + [Pages.text("Tests/SimulationTests/FaultTests.swift")]
        let known = Set(tested.flatMap(Pages.lines))
        let shown = try Pages.code(in: "\(Self.articles)/\(article)").flatMap(Pages.lines)
        #expect(shown.count > 10)
        for line in shown { #expect(known.contains(line), "\(article) shows what is not tested") }
    }
}

/// The pages of this repository.
enum Pages {
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }

    /// The Swift code of a page, block by block.
    static func code(in page: String) throws -> [String] {
        try text(page).components(separatedBy: "```swift\n").dropFirst().map {
            $0.components(separatedBy: "```")[0]
        }
    }

    /// Lines of code, without their margins.
    static func lines(of code: String) -> [String] {
        code.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    }
}
