import Testing

@Suite("The repository")
struct TraceTests {
    static func found(_ text: String) -> [Finding] {
        Traces.find(in: SourceFile(path: "Makefile", text: text))
    }

    @Test(
        "a path of one machine, or the host of a registry, is found",
        arguments: [
            "cd /ro" + "ot/x", "see `/wo" + "rk/main`", "A=/op" + "t/swift/bin",
            "https:" + "//registry.somewhere.dev/x", "http:" + "//10.1.2.3/x",
        ])
    func traces(text: String) {
        #expect(Self.found(text).count == 1)
    }

    @Test(
        "what holds on every machine is left alone",
        arguments: [
            "https://github.com/a/b", "http://127.0.0.1:80/x", "http://[::1]:80/x",
            "https://relay.example.org/", "Sources/work/x", "~/work/x", "/usr/share/x", "https://",
            "parley://invite/x",
        ])
    func clean(text: String) {
        #expect(Self.found(text).isEmpty)
    }

    @Test("no file knows the machine it was written on")
    func files() {
        let found = SourceTree.files.flatMap(Traces.find)
        #expect(found.isEmpty, "\(list(found))")
    }

    @Test("nothing stands at the top that has no business there")
    func topLevel() {
        let allowed: Set<String> = [
            "Package.swift", "Sources", "Tests", "Protocol", "Simulations", "README.md",
            "Makefile", "LICENSE",
            "Package.resolved",  // the package manager's, and git ignores it
        ]
        let strangers = SourceTree.topLevel.filter { !$0.hasPrefix(".") && !allowed.contains($0) }
        #expect(!SourceTree.topLevel.isEmpty)
        #expect(strangers.isEmpty)
    }

    @Test("README.md is short enough to be read")
    func readme() {
        guard let readme = SourceTree.read("README.md") else { return }
        #expect(readme.split(separator: "\n", omittingEmptySubsequences: false).count <= 200)
    }
}
