import Parley
import ParleyLocalAPI
import Testing

@Suite("A group that has another name now", .timeLimit(.minutes(2)))
struct RenamedGroupTests {
    /// Once a home that had been repaired said that the repair may have lost it.
    @Test("is told by that name where its former one is asked for, and no repair is blamed")
    func former() async throws {
        let folder = try TemporaryFolder()
        let home = folder.home("a")
        func run(_ words: String...) async throws -> (status: Int32, output: String) {
            let program = try Program(words + ["--home", home])
            return (try await program.ended(), program.output)
        }
        #expect(try await run("init", "--name", "ann").status == 0)
        #expect(try await run("group", "create", "club").status == 0)
        #expect(try await run("send", "club", "hello").status == 0)
        for name in ["the club", "our club"] {
            #expect(try await run("group", "rename", "club", name).status == 0)
            if name == "the club" {
                #expect(try await run("group", "rename", name, "club").status == 0)
            }
        }
        for name in ["club", "the club"] {
            let read = try await run("read", name)
            #expect(read.status == 1, "\(read.output)")
            #expect(read.output.contains("“\(name)” is called “our club” now."), "\(read.output)")
        }
        let other = try await run("read", "nothing")
        #expect(
            other.output.contains("No conversation or contact matches “nothing”."),
            "\(other.output)")
        // What has the name now is meant by it.
        #expect(try await run("group", "create", "club").status == 0)
        #expect(try await run("read", "club").status == 0)
    }
}
