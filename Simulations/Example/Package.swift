// swift-tools-version: 6.2
import PackageDescription

// In a package of your own, name the repository by its address instead of by a path.
let package = Package(
    name: "example",
    dependencies: [.package(name: "parley", path: "../..")],
    targets: [
        .testTarget(
            name: "PartitionTests",
            dependencies: [.product(name: "ParleySimulation", package: "parley")])
    ]
)
