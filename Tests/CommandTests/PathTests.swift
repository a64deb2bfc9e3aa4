import Foundation
import Testing

@testable import parley

@Suite("Paths that a person names")
struct PathTests {
    @Test("mean what a shell means by them, above the folder one is in as well")
    func above() {
        let here = FileManager.default.currentDirectoryPath as NSString
        let parent = here.deletingLastPathComponent
        for (path, whole) in [
            ("x", here.appendingPathComponent("x")), (".", here as String),
            ("./x/", here.appendingPathComponent("x")), ("..", parent),
            ("../x", (parent as NSString).appendingPathComponent("x")),
            ("x/../y", here.appendingPathComponent("y")), ("x/../../y", parent + "/y"),
            ("/a/b/../c", "/a/c"), ("/../a", "/a"),
        ] {
            #expect(wholePath(path) == whole, "\(path)")
        }
        #expect(
            HomeOptions.path(home: "../x", environment: [:]) == wholePath("../x"))
        #expect(
            HomeOptions.path(home: nil, environment: ["PARLEY_HOME": "x/../y"])
                == wholePath("y"))
        #expect(absolutePath("../x/") == wholePath("../x") + "/")
    }
}
