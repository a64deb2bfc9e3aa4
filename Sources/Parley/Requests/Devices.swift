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

/// Waits five minutes for one new device that is given the returned text; or first for the person's word,
/// where the page asks.
public struct StartPairing: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "openLink", RequestScope.admin,
        "Waits five minutes for one new device, which needs the text that is returned; for the page, "
            + "first until the person confirms it."
    )
    /// An example of the request.
    public static let example = StartPairing()

    /// Whether the text is given only once `confirmLink` has named the code that is returned. What the
    /// page asks always waits so.
    public var waits: Bool?

    /// A request with these parameters.
    public init(waits: Bool? = nil) { self.waits = waits }

    /// Answers the request.
    public func perform(on node: Node) async throws -> DeviceLinkView {
        if let reason = try await node.perform(GetStatus()).readOnlyReason {
            throw NodeError(
                "read-only", "This device may not add another: \(reason).",
                hint: try await node.read { try $0.isOwnForked() } ? NodeError.movingOn : nil)
        }
        guard waits != true else {
            guard node.network.canAwaitDevice else { throw node.unreachable() }
            return node.linkConsent.ask()
        }
        return try node.awaitDevice()
    }
}

/// Has the page link a device, as it asked to: the person's word for it, which the page itself cannot give.
public struct ConfirmPairing: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "confirmLink", RequestScope.admin,
        "Lets the page link a new device, by the code that the page shows."
    )
    /// An example of the request.
    public static let example = ConfirmPairing(code: "482193")

    /// The code.
    public var code: String

    /// A request with these parameters.
    public init(code: String) { self.code = code }

    /// Answers the request.
    public func perform(on node: Node) async throws -> NoReply {
        try node.linkConsent.confirm(code) { try node.awaitDevice() }
        return NoReply()
    }
}

/// What became of a link that the page asked for: its text is there once the person has confirmed it.
public struct GetPairing: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "confirmedLink", RequestScope.admin,
        "What became of a link that the page asked for: its text is empty until it is confirmed."
    )
    /// An example of the request.
    public static let example = GetPairing(code: "482193")

    /// The code.
    public var code: String

    /// A request with these parameters.
    public init(code: String) { self.code = code }

    /// Answers the request.
    public func perform(on node: Node) async throws -> DeviceLinkView {
        try node.linkConsent.link(code)
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
        node.linkConsent.end()
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
    /// Waits for a new device, and returns what to show it.
    fileprivate func awaitDevice() throws -> DeviceLinkView {
        var random = SystemRandom()
        let secret = random.bytes(DeviceOffer.secretByteCount)
        guard let offer = network.awaitDevice(secret: secret) else { throw unreachable() }
        return DeviceLinkView(text: offer.text, expires: offer.expires)
    }

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
