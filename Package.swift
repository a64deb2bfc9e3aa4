// swift-tools-version: 6.2
import PackageDescription

/// What every target of our own is built with: no warning survives, and an import that leaks
/// through a public declaration has to say so.
let house: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

/// What programs and tests are built with. Where tests are to run on an optimized core, the compiler leaves
/// these as they are: it would spend half of its time on code that no simulation runs through.
let plain =
    Context.environment["PARLEY_OPTIMIZED"] == nil ? house : house + [.unsafeFlags(["-Onone"])]

/// A room: the folder `Sources/<name>` is the target `Parley<name>`.
///
/// - Parameter hasPage: whether a README lies in the folder.
func room(
    _ name: String, _ dependencies: [Target.Dependency], path: String? = nil,
    hasPage: Bool = false, settings: [SwiftSetting] = house
) -> Target {
    .target(
        name: "Parley\(name)", dependencies: dependencies, path: path ?? "Sources/\(name)",
        exclude: hasPage ? ["README.md"] : [], swiftSettings: settings)
}

func tests(
    _ name: String, _ dependencies: [Target.Dependency], settings: [SwiftSetting] = plain
) -> Target {
    .testTarget(
        name: "\(name)Tests", dependencies: dependencies, path: "Tests/\(name)Tests",
        swiftSettings: settings)
}

let nio: [Target.Dependency] = [
    .product(name: "NIOCore", package: "swift-nio"),
    .product(name: "NIOPosix", package: "swift-nio"),
]
let arguments: Target.Dependency = .product(
    name: "ArgumentParser", package: "swift-argument-parser")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
/// The server for HTTP, and what its types are of. One room sees it: `HTTPAPI`.
let http: [Target.Dependency] = [
    .product(name: "HummingbirdCore", package: "hummingbird"),
    .product(name: "HTTPTypes", package: "swift-http-types"),
    .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
]
let protobuf: Target.Dependency = .product(name: "SwiftProtobuf", package: "swift-protobuf")

let targets: [Target] = [
    .systemLibrary(
        name: "CSodium", path: "Sources/CSodium", pkgConfig: "libsodium",
        providers: [.apt(["libsodium-dev"])]),
    .systemLibrary(
        name: "CZstd", path: "Sources/CZstd", pkgConfig: "libzstd",
        providers: [.apt(["libzstd-dev"])]),
    .target(name: "CKernels", path: "Sources/CKernels"),
    .target(name: "CTunnel", path: "Sources/CTunnel"),
    .target(name: "CProcess", path: "Sources/CProcess"),
    // What a page in a browser is made of; the compiler takes the files in.
    .target(name: "CPage", path: "Sources/Page", exclude: ["README.md", "files"]),
    room("Wire", ["CZstd"]),
    room("Words", []),
    room("Notes", []),
    .target(
        name: "CFaultDisk", path: "Sources/CFaultDisk",
        linkerSettings: [.linkedLibrary("sqlite3")]),
    room("Sealing", ["ParleyWire", "CSodium"]),
    .target(name: "ParleyPayloads", dependencies: [protobuf], path: "Sources/Payloads"),
    room("Ledger", ["ParleyWire", "ParleySealing"]),
    room("Roster", ["ParleyWire", "ParleySealing", "ParleyLedger", "ParleyPayloads", protobuf]),
    room(
        "Conversation",
        [
            "ParleyWire", "ParleySealing", "ParleyLedger", "ParleyRoster", "ParleySignalling",
            "ParleyNotes", "ParleyPayloads", protobuf,
        ],
        hasPage: true),
    room("Reconciliation", ["ParleyWire", "ParleySealing", "ParleyLedger"]),
    room("Files", ["ParleyWire", "ParleySealing", "ParleyLedger"]),
    room("Signalling", ["ParleyWire"]),
    room("Relaying", ["ParleyWire", "ParleySealing"]),
    room(
        "NodeCore",
        [
            "ParleyWire", "ParleySealing", "ParleyLedger", "ParleyRoster", "ParleyConversation",
            "ParleyReconciliation", "ParleySignalling", "ParleyNotes", "ParleyFiles",
        ]),
    room(
        "Storage",
        [
            "ParleyWire", "ParleyWords", "ParleySealing", "ParleyLedger", "ParleyRoster",
            "ParleyConversation", "ParleyNodeCore", "ParleyFiles",
            .product(name: "GRDB", package: "GRDB.swift"),
            .product(name: "GRDBSQLite", package: "GRDB.swift"),
        ], hasPage: true),
    room("Transport", ["ParleyWire"] + nio),
    room("Search", ["CKernels", "ParleyWords"]),
    room("Assistant", ["ParleyWords"]),
    room(
        "",
        [
            "CProcess", "ParleyWire", "ParleyFiles", "ParleyWords", "ParleySealing", "ParleyLedger",
            "ParleyRoster",
            "ParleyConversation", "ParleyReconciliation", "ParleySignalling", "ParleyRelaying",
            "ParleyNodeCore", "ParleyStorage", "ParleyTransport", "ParleySearch", "ParleyAssistant",
            logging,
        ], path: "Sources/Parley", settings: plain),
    room("LocalAPI", ["ParleyWire", "Parley", "ParleyTransport"] + nio, settings: plain),
    room(
        "HTTPAPI",
        ["CPage", "ParleyWire", "ParleySealing", "Parley", "ParleyLocalAPI", logging] + nio + http,
        settings: plain),
    room("Importing", ["ParleyWire", "ParleySealing", "Parley"], settings: plain),
    room(
        "Bench",
        [
            "ParleyWire", "ParleyWords", "ParleySealing", "ParleyLedger", "ParleyRoster",
            "ParleyConversation", "ParleyRelaying", "ParleyNodeCore", "ParleyStorage",
            "ParleyTransport", "ParleyFiles", "ParleySearch", "ParleySignalling", "ParleyNotes",
            "ParleyAssistant", "Parley",
        ], settings: plain),
    room(
        "RelayServer",
        [
            "ParleyWire", "ParleySealing", "ParleyRelaying", "ParleyTransport",
            .product(name: "GRDB", package: "GRDB.swift"),
        ]),
    room(
        "Simulation",
        [
            "ParleyWire", "ParleyFiles", "ParleySealing", "ParleyLedger", "ParleyRoster",
            "ParleyConversation",
            "ParleyReconciliation", "ParleySignalling", "ParleyRelaying", "ParleyNodeCore",
        ], path: "Simulations/Harness"),
    room(
        "SimulatedDisk",
        [
            "CFaultDisk", "ParleyWire", "ParleyFiles", "ParleySealing", "ParleyLedger",
            "ParleyNodeCore",
            "ParleyStorage", "ParleySimulation",
        ], path: "Simulations/Disk"),
    room(
        "Checkers",
        [
            "ParleyWire", "ParleyFiles", "ParleySealing", "ParleyLedger", "ParleyRoster",
            "ParleyConversation",
            "ParleySignalling", "ParleyNodeCore", "ParleyPayloads", "ParleySimulation", protobuf,
        ], path: "Simulations/Checkers"),
    room(
        "Simulate",
        [
            "ParleyWire", "ParleyFiles", "ParleySealing", "ParleyLedger", "ParleyRoster",
            "ParleyConversation",
            "ParleySignalling", "ParleyNodeCore", "ParleyStorage", "ParleySimulation",
            "ParleySimulatedDisk", "ParleyCheckers",
        ], path: "Simulations/Simulate"),
    room(
        "Real",
        [
            "CTunnel", "ParleySimulation", "ParleySimulate", "Parley", "ParleyLocalAPI",
        ], path: "Simulations/Real", settings: plain),
    .executableTarget(
        name: "parley",
        dependencies: [
            "CProcess", "ParleyWire", "ParleySealing", "ParleyRelaying", "ParleyTransport",
            "Parley",
            "ParleySearch", "ParleyLocalAPI", "ParleyHTTPAPI", "ParleyImporting", "ParleyBench",
            "ParleyRelayServer",
            "ParleySimulate", "ParleyReal", arguments, logging,
        ], path: "Sources/Command", swiftSettings: plain),
    tests("Wire", ["ParleyWire"]),
    tests("Words", ["ParleyWords"]),
    tests("Notes", ["ParleyNotes"]),
    tests(
        "Files",
        ["ParleyWire", "ParleySealing", "ParleyLedger", "ParleyFiles", "ParleySimulation"]),
    tests("Search", ["CKernels", "ParleyWords", "ParleySearch"]),
    tests("Assistant", ["ParleyWords", "ParleyAssistant"]),
    // They read all that is written here, letter by letter.
    tests("House", [], settings: house),
    tests("Signalling", ["ParleyWire", "ParleySignalling"]),
    tests("Sealing", ["ParleyWire", "ParleySealing", "CSodium"]),
    tests(
        "Ledger",
        ["ParleyWire", "ParleySealing", "ParleyLedger", "ParleyNodeCore", "ParleySimulation"]),
    tests(
        "Roster", ["ParleyWire", "ParleySealing", "ParleyLedger", "ParleyRoster", "CZstd"]),
    tests(
        "Conversation",
        [
            "ParleyWire", "ParleySealing", "ParleyLedger", "ParleyRoster", "ParleyConversation",
            "ParleySignalling", "ParleyNodeCore", "ParleySimulation", "ParleyNotes",
            "ParleyCheckers",
        ]),
    tests(
        "Reconciliation",
        [
            "ParleyWire", "ParleySealing", "ParleyLedger", "ParleyConversation",
            "ParleyReconciliation", "ParleyNodeCore",
            "ParleySimulation",
        ]),
    tests("Relaying", ["ParleyWire", "ParleySealing", "ParleyRelaying"]),
    tests(
        "NodeCore",
        [
            "ParleyWire", "ParleyFiles", "ParleySealing", "ParleyLedger", "ParleyRoster",
            "ParleyConversation",
            "ParleyReconciliation", "ParleySignalling", "ParleyNodeCore", "ParleySimulation",
            "ParleyCheckers",
        ]),
    tests(
        "Storage",
        [
            "ParleyWire", "ParleyWords", "ParleySealing", "ParleyLedger", "ParleyRoster",
            "ParleyConversation", "ParleyNodeCore", "ParleyStorage", "ParleySimulation",
            "ParleyFiles", .product(name: "GRDB", package: "GRDB.swift"),
        ]),
    tests(
        "Simulation",
        [
            "ParleyWire", "ParleyFiles", "ParleySealing", "ParleyLedger", "ParleyRoster",
            "ParleyConversation",
            "ParleySignalling", "ParleyNodeCore", "ParleySimulation", "ParleySimulatedDisk",
            "ParleyStorage", "ParleyCheckers", "ParleySimulate",
        ]),
    tests(
        "Fuzz",
        [
            "ParleyWire", "ParleySealing", "ParleyRelaying", "ParleyLedger", "ParleyRoster",
            "ParleyConversation", "ParleyFiles", "ParleyNodeCore", "ParleyImporting",
            "ParleySimulation", "Parley", "ParleySignalling", "WireTests", "SignallingTests",
            "FilesTests",
        ]),
    tests("Example", []),
    // The example package's own tests, as anybody outside compiles them: what is public has to do.
    .testTarget(
        name: "PartitionTests", dependencies: ["ParleySimulation", "ParleyCheckers"],
        path: "Simulations/Example/Tests/PartitionTests", packageAccess: false,
        swiftSettings: plain),
    tests("Transport", ["ParleyWire", "ParleyTransport"] + nio),
    tests(
        "RelayServer",
        [
            "ParleyWire", "ParleySealing", "ParleyRelaying", "ParleyTransport",
            "ParleyRelayServer", "RelayingTests",
        ]),
    tests("RealNetwork", ["ParleyReal", "ParleySimulate", "parley"]),
    tests(
        "Parley",
        [
            "Parley", "ParleyWire", "ParleySealing", "ParleySignalling", "ParleyNodeCore",
            "ParleySearch", "ParleyTransport", "ParleyRelaying", "ParleyRelayServer",
            "ParleyLedger", "ParleyStorage", "ParleyFiles", "ParleyConversation", logging,
        ]),
    tests("LocalAPI", ["Parley", "ParleyLocalAPI", "ParleyTransport"]),
    tests(
        "HTTPAPI",
        [
            "ParleyWire", "ParleySealing", "Parley", "ParleyStorage", "ParleyLocalAPI",
            "ParleyHTTPAPI", "ParleyTransport", "LocalAPITests",
        ] + nio),
    tests("Importing", ["Parley", "ParleyImporting", "LocalAPITests"]),
    tests(
        "Command",
        [
            "Parley", "ParleyConversation", "ParleyImporting", "parley", "LocalAPITests", arguments,
            logging,
        ]),
    tests(
        "Process",
        [
            "ParleyWire", "ParleySealing", "ParleyLedger", "ParleyRoster", "ParleySignalling",
            "ParleyConversation", "ParleyNodeCore", "ParleyStorage", "ParleyTransport", "Parley",
            "ParleyLocalAPI", "ParleyRelaying", "RelayServerTests", "parley",
        ]),
]

let package = Package(
    name: "parley",
    products: [
        .library(name: "Parley", targets: ["Parley"]),
        .library(name: "ParleySimulation", targets: ["ParleySimulation", "ParleyCheckers"]),
        .library(name: "ParleySimulatedDisk", targets: ["ParleySimulatedDisk"]),
        .executable(name: "parley", targets: ["parley"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
        .package(url: "https://github.com/apple/swift-protobuf", exact: "1.39.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(
            url: "https://github.com/hummingbird-project/hummingbird", exact: "2.28.1", traits: []),
        .package(
            url: "https://github.com/apple/swift-http-types", exact: "1.8.0", traits: []),
        .package(url: "https://github.com/apple/swift-nio-extras", exact: "1.35.2"),
    ],
    targets: targets,
    swiftLanguageModes: [.v6]
)
