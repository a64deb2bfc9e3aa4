import Foundation
import ParleySimulate
import Testing

@testable import ParleyReal

@Suite("Cuts")
struct CutsTests {
    static let users = ["ann", "ben", "cara"]

    @Test("a parting cuts both directions between groups, and none within")
    func both() {
        var cuts = Cuts(users: Self.users)
        cuts.part([["ann", "ben"], ["cara"]], oneWay: false)
        #expect(!cuts.isCut(from: "ann", to: "ben"))
        #expect(cuts.isCut(from: "ann", to: "cara"))
        #expect(cuts.isCut(from: "cara", to: "ann"))
        #expect(cuts.text == "ann ben | cara")
        cuts.heal()
        #expect(cuts.isEmpty)
        #expect(cuts.text == "all together")
    }

    @Test("a parting in one direction holds back what an earlier group sends to a later one")
    func oneWay() {
        var cuts = Cuts(users: Self.users)
        cuts.part([["cara"], ["ann", "ben"]], oneWay: true)
        #expect(cuts.isCut(from: "cara", to: "ann"))
        #expect(!cuts.isCut(from: "ann", to: "cara"))
        #expect(cuts.text == "cara > ann ben")
    }

    @Test("who stands in no group goes on reaching everybody")
    func rest() {
        var cuts = Cuts(users: Self.users)
        cuts.part([["ben"], ["cara"]], oneWay: false)
        #expect(cuts.isCut(from: "ben", to: "cara"))
        #expect(!cuts.isCut(from: "ann", to: "ben"))
        #expect(!cuts.isCut(from: "cara", to: "ann"))
    }

    @Test("a parting that ends slowly holds up each way until that is released")
    func loosen() {
        var cuts = Cuts(users: Self.users)
        cuts.part([["ann"], ["ben", "cara"]], oneWay: true)
        let ways = cuts.loosen()
        #expect(ways.map(\.from) == ["ann", "ann"])
        #expect(ways.map(\.to) == ["ben", "cara"])
        #expect(cuts.isCut(from: "ann", to: "ben"))
        cuts.set(from: "ann", to: "ben", isHeld: false)
        #expect(!cuts.isCut(from: "ann", to: "ben"))
        #expect(cuts.isCut(from: "ann", to: "cara"))
        cuts.set(from: "ann", to: "cara", isHeld: false)
        #expect(cuts.isEmpty)
    }

    @Test("who is away reaches nobody, and stays away when a parting heals")
    func away() {
        var cuts = Cuts(users: Self.users)
        cuts.set("ben", isAway: true)
        cuts.part([["ann"], ["ben", "cara"]], oneWay: false)
        cuts.heal()
        #expect(cuts.isCut(from: "ann", to: "ben"))
        #expect(cuts.isCut(from: "ben", to: "cara"))
        #expect(!cuts.isCut(from: "ann", to: "cara"))
        cuts.set("ben", isAway: false)
        #expect(cuts.isEmpty)
    }

    @Test("a stall holds up one direction of one way")
    func stall() {
        var cuts = Cuts(users: Self.users)
        cuts.set(from: "ann", to: "ben", isHeld: true)
        #expect(cuts.isCut(from: "ann", to: "ben"))
        #expect(!cuts.isCut(from: "ben", to: "ann"))
        #expect(!cuts.isCut(from: "ann", to: "cara"))
        cuts.set(from: "ann", to: "ben", isHeld: false)
        #expect(cuts.isEmpty)
    }
}

@Suite("Network plan")
struct NetworkPlanTests {
    /// A plan for three people on a machine that can do this.
    static func plan(
        delayMs: [UInt64] = [0, 0], bytesPerSecond: UInt64? = nil, loss: UInt64 = 0,
        hasFilter: Bool = true, hasTunnels: Bool = true
    ) throws -> NetworkPlan {
        var scenario = try Sample.scenario(of: CutsTests.users)
        scenario.links.default.delayMs = delayMs
        scenario.links.default.bytesPerSecond = bytesPerSecond
        let machine = Machine(hasFilter: hasFilter, hasTunnels: hasTunnels)
        return NetworkPlan(scenario, owner: 41, lossPerMille: loss, machine: machine)
    }

    @Test("cables carry where nothing is delayed, else the shuttle does, if there are tunnels")
    func carrier() throws {
        #expect(try Self.plan().carrier == .cables)
        #expect(try Self.plan(delayMs: [150, 250]).carrier == .shuttle)
        #expect(try Self.plan(delayMs: [150, 250], hasTunnels: false).carrier == .cables)
        #expect(try Self.plan(hasFilter: false).carrier == .shuttle)
    }

    @Test("cuts and losses are rules of the receiver's filter")
    func rules() throws {
        var cuts = Cuts(users: CutsTests.users)
        cuts.part([["ann", "ben"], ["cara"]], oneWay: false)
        #expect(
            try Self.plan(loss: 20).rules(for: "cara", cuts: cuts) == """
                add table ip parley
                delete table ip parley
                table ip parley {
                  chain arrive {
                    type filter hook input priority 0; policy accept;
                    iifname != "line0" accept
                    ip saddr { 10.77.0.1, 10.77.0.2 } drop
                    numgen random mod 1000 < 20 drop
                  }
                }

                """)
        #expect(try !Self.plan().rules(for: "ann", cuts: Cuts(users: [])).contains("drop"))
    }

    @Test("without a filter the shuttle cuts and loses")
    func shuttleCuts() throws {
        var cuts = Cuts(users: CutsTests.users)
        cuts.part([["ann"], ["ben", "cara"]], oneWay: true)
        let plan = try Self.plan(delayMs: [150, 250], loss: 20, hasFilter: false)
        let line = plan.line(from: "ann", to: "ben", cuts: cuts)
        #expect(line.isCut)
        #expect(line.lossPerMille == 20)
        #expect(line.delay == 150_000...250_000)
        #expect(!plan.line(from: "ben", to: "ann", cuts: cuts).isCut)
        let filtered = try Self.plan(delayMs: [150, 250], loss: 20).line(
            from: "ann", to: "ben", cuts: cuts)
        #expect(!filtered.isCut)
        #expect(filtered.lossPerMille == 0)
    }

    @Test("a way of its own behaves as it is named, in both directions")
    func between() throws {
        var scenario = try Sample.scenario(of: CutsTests.users)
        var slow = scenario.links.default
        slow.delayMs = [7, 7]
        slow.bytesPerSecond = 99
        scenario.links.between = ["ben-ann": slow]
        let machine = Machine(hasFilter: true, hasTunnels: true)
        let plan = NetworkPlan(scenario, owner: 41, lossPerMille: 0, machine: machine)
        let cuts = Cuts(users: CutsTests.users)
        #expect(plan.carrier == .shuttle)
        #expect(plan.line(from: "ann", to: "ben", cuts: cuts).delay == 7_000...7_000)
        #expect(plan.line(from: "ben", to: "ann", cuts: cuts).bytesPerSecond == 99)
        #expect(plan.line(from: "ann", to: "cara", cuts: cuts).delay == 0...0)
    }

    @Test("every command that builds acts on a namespace of the owner")
    func commands() throws {
        for plan in try [Self.plan(bytesPerSecond: 1_000), Self.plan(delayMs: [5, 9])] {
            let commands = plan.namespaceCommands + plan.cableCommands + plan.addressCommands
            for command in commands {
                #expect(["ip", "tc"].contains(command[0]))
                let name = command[1] == "-n" ? command[2] : command[3]
                #expect(plan.namespaces.contains(name), "\(command)")
                #expect(Leftovers.owner(of: name) == 41)
            }
            #expect(commands.contains { $0.contains("10.77.0.3/24") })
        }
        let rates = try Self.plan(bytesPerSecond: 1_000).addressCommands.filter { $0[0] == "tc" }
        #expect(rates.count == 3)
        #expect(rates.allSatisfy { $0.contains("8000bit") })
    }
}

@Suite("Leftovers")
struct LeftoversTests {
    @Test(
        "a name tells whose something is",
        arguments: [
            ("parley-41-ann", 41), ("parley-41.switch", 41), ("parley-41", nil),
            ("parley-transport-x", nil), ("parley-41a-ann", nil), ("other-41-ann", nil),
            ("parley--ann", nil), ("parley-99999999999-ann", nil),
        ] as [(String, Int32?)])
    func owners(name: String, owner: Int32?) {
        #expect(Leftovers.owner(of: name) == owner)
    }

    @Test("only what belongs to no living process is abandoned")
    func abandoned() {
        let names = ["parley-2-ben", "parley-1-ann", "parley-2.switch", "else", "parley-old"]
        #expect(
            Leftovers.abandoned(names) { $0 == 1 } == ["parley-2-ben", "parley-2.switch"])
    }
}

@Suite("Processes")
struct ProcessTests {
    @Test("one that has ended is dead, whether or not anybody has asked how")
    func zombie() throws {
        let process = try ChildProcess(["true"], output: 2, isApart: false)
        var ending = siginfo_t()
        #expect(waitid(P_PID, id_t(process.processID), &ending, WEXITED | WNOWAIT) == 0)
        #expect(!Leftovers.isAlive(process.processID))
        #expect(process.wait() == 0)
        #expect(process.status == 0)
        #expect(!Leftovers.isAlive(process.processID))
        #expect(Leftovers.isAlive(getpid()))
    }

    @Test("how one ended is told, a signal as a negative number")
    func endings() throws {
        #expect(try Tool.attempt(["sh", "-c", "echo said; exit 3"]).status == 3)
        #expect(try Tool.attempt(["sh", "-c", "kill -9 $$"]).status == -9)
        #expect(try Tool.run(["cat"], input: "handed on") == "handed on")
        #expect(throws: RealFailure.self) { try Tool.run(["no-such-program-anywhere"]) }
    }
}

@Suite("User namespace")
struct UserNamespaceTests {
    @Test("the command hands on every argument as it is")
    func command() throws {
        let words = UserNamespace.command(program: "/bin/echo", arguments: ["a b", "$HOME", ""])
        #expect(words.first == "unshare")
        let shell = try #require(words.firstIndex(of: "sh"))
        // The same words without the rights that a test may lack.
        let told = try Tool.run(
            Array(words[shell...]).map { word in
                word.replacingOccurrences(of: "mount -t tmpfs none /run", with: "true")
            })
        #expect(told == "a b $HOME \n")
    }
}

/// Scenarios for tests.
enum Sample {
    static func scenario(of users: [String]) throws -> Scenario {
        // Decoded, as it comes: memberwise initialisers are not public.
        let nodes = users.map { "{\"user\":\"\($0)\"}" }.joined(separator: ",")
        return try decoded(
            """
            {"name":"sample","story":"","seed":1,"store":"sqlite","nodes":[\(nodes)],
             "acquaintance":"everyone","links":{"default":{"delayMs":[0,0]}},
             "workload":{"actsPerMinute":60},"phases":[{"for":"10s"}],"expect":{}}
            """)
    }

    static func decoded<T: Decodable>(_ text: String, as: T.Type = T.self) throws -> T {
        try JSONDecoder().decode(T.self, from: Data(text.utf8))
    }
}
