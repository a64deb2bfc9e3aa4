import Foundation
import Parley
import Synchronization

@testable import LocalAPITests
@testable import parley

/// A terminal of its own for a test: what goes in, and all that comes out.
final class Terminal: Sendable {
    struct Result: Equatable {
        var status: Int32
        var output: String
        var talk: String
    }

    let node: FakeNode
    let openCount = Mutex(0)
    private let isRunning: Bool
    private let columnCount: Int?
    private let hasColour: Bool
    private let failure: Int32?
    private let output = Mutex("")
    private let talk = Mutex("")

    init(
        node: FakeNode = FakeNode(), isRunning: Bool = true, columnCount: Int? = nil,
        hasColour: Bool = false, failure: Int32? = nil
    ) {
        self.node = node
        self.isRunning = isRunning
        (self.columnCount, self.hasColour, self.failure) = (columnCount, hasColour, failure)
    }

    /// Runs one command line.
    func run(_ arguments: String..., input: [UInt8] = []) async -> Result {
        await run(list: arguments, input: input)
    }

    /// Runs one command line.
    func run(
        list arguments: [String], input: [UInt8] = [], environment: [String: String] = [:]
    ) async -> Result {
        output.withLock { $0 = "" }
        talk.withLock { $0 = "" }
        var world = World()
        world.output = Screen(put: { text in self.output.withLock { $0 += text } })
        (world.output.columnCount, world.output.hasColour) = (columnCount, hasColour)
        world.output.failure = { self.failure }
        world.talk = Screen(put: { text in self.talk.withLock { $0 += text } })
        world.readInput = { _ in input }
        world.isInputTerminal = false
        world.timeZone = TimeZone(identifier: "Europe/Berlin") ?? .gmt
        world.environment = ["HOME": "/home/ada", "USER": "ada"].merging(environment) { $1 }
        world.open = { _ in
            self.openCount.withLock { $0 += 1 }
            return World.Access(node: self.node, isRunning: self.isRunning, close: {})
        }
        let status = await World.$current.withValue(world) { await Entry.run(arguments) }
        return Result(
            status: status, output: output.withLock { $0 }, talk: talk.withLock { $0 })
    }
}
