import ParleyWire
import Testing

@testable import ParleySealing

/// A device with everything it needs to be linked.
struct TestDevice {
    let signer: DeviceSigningKey
    let noiseKey: DeviceNoiseKey
    let log: IdentityLog
    /// The person's root key, where the person was made with the device.
    let root: DeviceSigningKey?
    var credentials: LinkCredentials {
        LinkCredentials(
            person: log.person, device: signer.device, noiseKey: noiseKey, identity: log.encoded)
    }

    /// A new person's first device.
    init(_ seed: UInt64) throws {
        var random = SeededRandom(seed)
        signer = .generate(using: &random)
        noiseKey = .generate(using: &random)
        let root = DeviceSigningKey.generate(using: &random)
        log = try IdentityLog.founded(
            root: root, device: signer, noiseKey: noiseKey.publicKey, time: 0, using: &random)
        self.root = root
    }

    init(signer: DeviceSigningKey, noiseKey: DeviceNoiseKey, log: IdentityLog) {
        self.signer = signer
        self.noiseKey = noiseKey
        self.log = log
        root = nil
    }
}

/// Two ends of one link, and what came out of each.
struct LinkPair {
    let ada: TestDevice
    let ben: TestDevice
    var caller: Link
    var callee: Link
    /// Frames that arrived, the callee's first.
    var frames: (callee: [[UInt8]], caller: [[UInt8]]) = ([], [])

    init(
        network: NetworkID = .main, calleeNetwork: NetworkID = .main, expecting: DeviceID? = nil,
        ada: TestDevice? = nil, ben: TestDevice? = nil, calling: NoiseKey? = nil
    ) throws {
        let caller = try ada ?? TestDevice(1)
        let callee = try ben ?? TestDevice(2)
        var random = SeededRandom(3)
        self.ada = caller
        self.ben = callee
        self.caller = Link(
            initiatorTo: calling ?? callee.noiseKey.publicKey, expecting: expecting,
            credentials: caller.credentials, network: network, using: &random)
        self.callee = Link(
            responder: callee.credentials, network: calleeNetwork, using: &random)
    }

    /// Offers bytes to one end; returns what it wants sent.
    mutating func deliver(
        _ bytes: [UInt8], toCallee: Bool, piece: Int = .max
    ) throws(LinkRejection) -> [UInt8] {
        var answers: [UInt8] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let next = rest.prefix(piece)
            rest = rest.dropFirst(next.count)
            for event in toCallee ? try callee.receive(next) : try caller.receive(next) {
                switch event {
                case .send(let answer): answers += answer
                case .authenticated: break
                case .frame(let frame):
                    if toCallee { frames.callee.append(frame) } else { frames.caller.append(frame) }
                }
            }
        }
        return answers
    }

    /// The whole handshake, with the bytes of one message changed on the way.
    mutating func shake(
        piece: Int = .max, _ change: (Int, inout [UInt8]) -> Void = { _, _ in }
    ) throws(LinkRejection) {
        var message = caller.start()
        for index in 0..<4 {
            change(index, &message)
            message = try deliver(message, toCallee: index.isMultiple(of: 2), piece: piece)
        }
    }
}
