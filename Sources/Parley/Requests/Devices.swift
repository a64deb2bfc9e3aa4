import ParleyLedger
import ParleyNodeCore
import ParleySealing
import ParleyWire

/// The person's own devices, this one first.
public struct ListDevices: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "devices", RequestScope.read,
        "The person's own devices, this one first."
    )
    /// An example of the request.
    public static let example = ListDevices()

    /// The request, which has no parameters.
    public init() {}

    /// Answers the request.
    public func perform(on node: Node) async throws -> [DeviceView] {
        try await node.read { try $0.devices() }
    }
}

/// Waits five minutes for one new device that is given the returned text.
public struct StartPairing: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "openLink", RequestScope.admin,
        "Waits five minutes for one new device, which needs the text that is returned."
    )
    /// An example of the request.
    public static let example = StartPairing()

    /// The request, which has no parameters.
    public init() {}

    /// Answers the request.
    public func perform(on node: Node) async throws -> DeviceLinkView {
        if let reason = try await node.perform(GetStatus()).readOnlyReason {
            throw NodeError(
                "read-only", "This device may not add another: \(reason).",
                hint: try await node.read { try $0.isOwnForked() } ? NodeError.movingOn : nil)
        }
        var random = SystemRandom()
        let secret = random.bytes(DeviceOffer.secretByteCount)
        guard let offer = node.network.awaitDevice(secret: secret) else { throw node.unreachable() }
        return DeviceLinkView(text: offer.text, expires: offer.expires)
    }
}

/// Waits for no device any more.
public struct StopPairing: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "closeLink", RequestScope.admin,
        "Stops waiting for a new device."
    )
    /// An example of the request.
    public static let example = StopPairing()

    /// The request, which has no parameters.
    public init() {}

    /// Answers the request.
    public func perform(on node: Node) async throws -> NoReply {
        node.network.endAwaiting()
        return NoReply()
    }
}

/// Revokes a device for good, with the recovery code if this device may not do it alone.
public struct RevokeDevice: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "revokeDevice", RequestScope.admin,
        "Revokes a device for good, with the recovery code if this device may not do that by "
            + "itself."
    )
    /// An example of the request.
    public static let example = RevokeDevice(device: "phone")

    /// Its name, or the start of its identifier.
    public var device: String
    /// The recovery code, as it is typed.
    public var recoveryCode: String?

    /// A request with these parameters.
    public init(device: String, recoveryCode: String? = nil) {
        self.device = device
        self.recoveryCode = recoveryCode
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> NoReply {
        let id = try await node.read { try $0.device(device) }
        let root = try recoveryCode.map { try RecoveryCode(person: $0).rootKey }
        if try await node.read({ $0.isOnlyDevice(id) }) { throw NodeError.onlyDevice }
        _ = try await node.running.perform(.revokeDevice(id, root: root))
        return NoReply()
    }
}

/// Sets the name of one of the person's devices. Nobody else sees it.
public struct RenameDevice: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "renameDevice", RequestScope.write,
        "Sets the name of one of the person's own devices."
    )
    /// An example of the request.
    public static let example = RenameDevice(device: "phone", name: "old phone")

    /// Its name, or the start of its identifier.
    public var device: String
    /// Its name from now on.
    public var name: String

    /// A request with these parameters.
    public init(device: String, name: String) {
        self.device = device
        self.name = name
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> NoReply {
        let id = try await node.read { views in
            let id = try views.device(device)
            let wanted = VisibleName.shownPerson(name).lowercased()
            let other = try views.devices().first {
                $0.state != "revoked" && $0.device != id.description
                    && $0.name.lowercased() == wanted
            }
            guard let other else { return id }
            throw NodeError(
                "name-taken",
                "Another device of yours is already called “\(other.name)”, "
                    + "\(other.device.prefix(8)).",
                hint: "Give this one another name, or rename that one first.")
        }
        _ = try await node.running.perform(.renameDevice(id, name: name))
        return NoReply()
    }
}

extension Node {
    /// Why no device can reach this node, and what ends that.
    fileprivate func unreachable() -> NodeError {
        if network.isOffline {
            return NodeError(
                "not-listening", "This node is offline, so no device can reach it.",
                hint: "`parley offline off` ends that.")
        }
        guard network.isRunning else {
            return NodeError(
                "not-listening", "This node is not running, so no device can reach it.",
                hint: "Start it in another window with `parley run`.")
        }
        return NodeError(
            "not-listening", "This node is running but does not listen, so no device can reach it.",
            hint: "Stop it (Ctrl-C where it runs); then `parley run` without --no-listen, or with "
                + "--listen HOST:PORT.")
    }
}
