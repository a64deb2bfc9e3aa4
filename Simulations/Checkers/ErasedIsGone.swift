import ParleyLedger
import ParleyNodeCore
import ParleySimulation
import ParleyWire

/// I15: what was erased is in no file of an honest node.
///
/// Bodies never stand readable on a disk, so what is looked for is the sealed row: its first
/// bytes, remembered when it was stored. Erasing replaces them by the commitment, and the database
/// overwrites what it frees; the log of changes holds older pages until it is moved. So files are
/// searched as a shutdown leaves them. The key of a row's bucket lives on with its other rows: it
/// is the sealed bytes that have to go.
final class ErasedIsGone: Checker {
    static let invariant = "I15"
    static let needsDisk = true
    private static let remembered = 24
    private(set) var checkCount = 0
    private var sealed: [DeviceID: [[UInt8]?]] = [:]

    func observed(_ step: StepReport) throws {
        try learn(step.node)
    }

    func died(_ node: SimulatedNode, losingPower: Bool) throws {
        let device = node.identity.device
        let count = node.store.operationCount
        if let known = sealed[device], known.count > count {
            sealed[device] = Array(known[..<count])
        }
    }

    func wasSetBack(_ node: SimulatedNode) { sealed[node.identity.device] = nil }

    private func learn(_ node: SimulatedNode) throws {
        let device = node.identity.device
        let count = node.store.operationCount
        for row in stride(from: sealed[device]?.count ?? 0, to: count, by: 1) {
            let bytes = try node.store.sealedPayload(of: OperationNumber(Int64(row + 1)))
            sealed[device, default: []].append(bytes.map { Array($0.prefix(Self.remembered)) })
        }
    }

    func settled(_ world: World) throws {
        for node in world.honestNodes {
            var erased = ByteSearch()
            for (row, bytes) in (sealed[node.identity.device] ?? []).enumerated() {
                let number = OperationNumber(Int64(row + 1))
                guard let bytes, case .erased = try node.store.operation(number)?.operation.body
                else { continue }
                erased.add(bytes)
            }
            guard erased.count > 0 else { continue }
            for file in try node.store.filesAfterShutdown() {
                checkCount += erased.count
                guard erased.firstHit(in: file.bytes) == nil else {
                    throw violation("\(node.name) keeps what was erased in its \(file.name)")
                }
            }
        }
    }
}
