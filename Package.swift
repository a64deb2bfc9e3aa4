// swift-tools-version: 6.2
import Foundation
import PackageDescription

/// What every target of our own is built with: no warning survives, and an import that leaks
/// through a public declaration has to say so.
let house: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().path
func exists(_ path: String) -> Bool {
    FileManager.default.fileExists(atPath: root + "/" + path)
}

/// Rooms that this one may import, as far as they exist.
func existing(_ dependencies: [Target.Dependency]) -> [Target.Dependency] {
    dependencies.filter { dependency in
        guard case .byNameItem(let name, _) = dependency, name.hasPrefix("Parley") else {
            return true
        }
        let folder = String(name.dropFirst("Parley".count))
        return exists("Sources/" + (folder.isEmpty ? "Parley" : folder))
            || name == "ParleySimulation" && exists("Simulations/Harness")
    }
}

/// A room: the folder `Sources/<name>` is the target `Parley<name>`.
func room(_ name: String, _ dependencies: [Target.Dependency], path: String? = nil) -> Target {
    .target(
        name: "Parley\(name)", dependencies: existing(dependencies),
        path: path ?? "Sources/\(name)",
        exclude: exists("\(path ?? "Sources/\(name)")/README.md") ? ["README.md"] : [],
        swiftSettings: house)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(
        name: "\(name)Tests", dependencies: existing(dependencies), path: "Tests/\(name)Tests",
        swiftSettings: house)
}

let nio: [Target.Dependency] = [
    .product(name: "NIOCore", package: "swift-nio"),
    .product(name: "NIOPosix", package: "swift-nio"),
]
let arguments: Target.Dependency = .product(
    name: "ArgumentParser", package: "swift-argument-parser")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let protobuf: Target.Dependency = .product(name: "SwiftProtobuf", package: "swift-protobuf")

let targets: [Target] = [
    .systemLibrary(
        name: "CSodium", path: "Sources/CSodium", pkgConfig: "libsodium",
        providers: [.apt(["libsodium-dev"])]),
    .target(name: "CZstd", path: "Sources/CZstd"),
    room("Wire", []),
    room("Sealing", ["ParleyWire", "CSodium"]),
    .target(name: "ParleyPayloads", dependencies: [protobuf], path: "Sources/Payloads"),
    room("Ledger", ["ParleyWire", "ParleySealing"]),
    room("Roster", ["ParleyWire", "ParleySealing", "ParleyLedger", "ParleyPayloads", protobuf]),
    room(
        "Conversation",
        ["ParleyWire", "ParleySealing", "ParleyLedger", "ParleyRoster", "ParleyPayloads", protobuf]),
    room("Reconciliation", ["ParleyWire", "ParleySealing", "ParleyLedger"]),
    room(
        "NodeCore",
        [
            "ParleyWire", "ParleySealing", "ParleyLedger", "ParleyRoster", "ParleyConversation",
            "ParleyReconciliation",
        ]),
    room(
        "Storage",
        [
            "ParleyWire", "ParleySealing", "ParleyLedger", "ParleyRoster", "ParleyConversation",
            "ParleyNodeCore",
            .product(name: "GRDB", package: "GRDB.swift"),
            .product(name: "GRDBSQLite", package: "GRDB.swift"),
        ]),
    room("Transport", ["ParleyWire"] + nio),
    room(
        "",
        [
            "ParleyWire", "ParleySealing", "ParleyLedger", "ParleyRoster", "ParleyConversation",
            "ParleyReconciliation", "ParleyNodeCore", "ParleyStorage", "ParleyTransport", logging,
        ], path: "Sources/Parley"),
    room("LocalAPI", ["ParleyWire", "Parley", "ParleyTransport"] + nio),
    room("Importing", ["ParleyWire", "ParleySealing", "Parley"]),
    room("Bench", ["ParleyWire", "Parley"]),
    room(
        "Simulation",
        [
            "ParleyWire", "ParleySealing", "ParleyLedger", "ParleyRoster", "ParleyConversation",
            "ParleyReconciliation", "ParleyNodeCore",
        ], path: "Simulations/Harness"),
    .executableTarget(
        name: "parley",
        dependencies: existing([
            "ParleyWire", "Parley", "ParleyLocalAPI", "ParleyImporting", "ParleyBench", arguments,
            logging,
        ]), path: "Sources/Command", swiftSettings: house),
    tests("Wire", ["ParleyWire"]),
    tests("House", []),
    tests("Sealing", ["ParleyWire", "ParleySealing", "CSodium"]),
    tests("Ledger", ["ParleyWire", "ParleySealing", "ParleyLedger", "ParleySimulation"]),
    tests(
        "Conversation",
        [
            "ParleyWire", "ParleySealing", "ParleyLedger", "ParleyRoster", "ParleyConversation",
            "ParleyNodeCore", "ParleySimulation",
        ]),
    tests(
        "Reconciliation",
        [
            "ParleyWire", "ParleySealing", "ParleyLedger", "ParleyReconciliation",
            "ParleySimulation",
        ]),
    tests(
        "NodeCore",
        [
            "ParleyWire", "ParleySealing", "ParleyLedger", "ParleyRoster", "ParleyConversation",
            "ParleyReconciliation", "ParleyNodeCore", "ParleySimulation",
        ]),
    tests(
        "Storage",
        [
            "ParleyWire", "ParleySealing", "ParleyLedger", "ParleyRoster", "ParleyConversation",
            "ParleyNodeCore", "ParleyStorage", "ParleySimulation",
            .product(name: "GRDB", package: "GRDB.swift"),
        ]),
    tests("Transport", ["ParleyWire", "ParleyTransport"] + nio),
    tests("Parley", ["Parley", "ParleyWire", "ParleySealing"]),
    tests("LocalAPI", ["Parley", "ParleyLocalAPI", "ParleyTransport"]),
    tests("Importing", ["Parley", "ParleyImporting", "LocalAPITests"]),
    tests("Command", ["Parley", "ParleyImporting", "parley", "LocalAPITests", arguments]),
]

let package = Package(
    name: "parley",
    products: [
        .library(name: "Parley", targets: ["Parley"]),
        .executable(name: "parley", targets: ["parley"]),
    ].filter { $0.name == "Parley" ? exists("Sources/Parley") : exists("Sources/Command") },
    dependencies: [
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
        .package(url: "https://github.com/apple/swift-protobuf", exact: "1.39.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
    ],
    targets: targets.filter { exists($0.path ?? "") },
    swiftLanguageModes: [.v6]
)
