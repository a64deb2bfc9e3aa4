import Foundation
import ParleySimulate
import Testing

/// The scenarios that come with the project. CI plays each of them, but for those in `Long`, which
/// `make soak` plays; here they are read.
@Suite("Scenarios")
struct StoryTests {
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../Simulations/Scenarios")

    static let files: [URL] = {
        [folder, folder.appendingPathComponent("Long")].flatMap { folder in
            let all = try? FileManager.default.contentsOfDirectory(  // an empty list fails below
                at: folder, includingPropertiesForKeys: nil)
            return (all ?? []).filter { $0.pathExtension == "json" }
                .sorted { $0.lastPathComponent < $1.lastPathComponent }
        }
    }()

    @Test("are at least twelve stories, each in a file of its name, and heal in the end")
    func stories() throws {
        #expect(Self.files.count >= 12)
        for file in Self.files {
            let scenario = try Scenario(json: try Data(contentsOf: file))
            #expect(scenario.name + ".json" == file.lastPathComponent)
            #expect(scenario.story.count > 60, "\(scenario.name) tells too little")
            #expect(scenario.phases.last?.heal == true, "\(scenario.name) never heals")
            if let log = scenario.workload.log {
                let path = Self.folder.appendingPathComponent(log).path
                #expect(FileManager.default.fileExists(atPath: path), "\(log) is missing")
            }
        }
    }
}
