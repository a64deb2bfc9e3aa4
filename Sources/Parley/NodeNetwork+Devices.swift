import ParleyNodeCore
import ParleySealing
import ParleyTransport
import ParleyWire
import Synchronization

extension NodeNetwork {
    /// Waits for one new device that knows the secret, for some minutes.
    ///
    /// - Returns: what to show it, or nil where this node cannot be reached.
    func awaitDevice(secret: [UInt8]) -> DeviceOffer? {
        let now = SystemClock.now
        return state.withLock { state in
            guard !state.addresses.isEmpty, !state.isOffline else { return nil }
            _ = state.desk.open(secret, at: now.monotonic)
            return DeviceOffer(
                person: identity.person, noiseKey: identity.noiseKey, secret: secret,
                expires: now.wall + PairingDesk.lifetime, addresses: state.addresses)
        }
    }

    /// Whether a new device could reach this node.
    var canAwaitDevice: Bool { state.withLock { !$0.addresses.isEmpty && !$0.isOffline } }

    /// Waits for nobody any more.
    func endAwaiting() { state.withLock { $0.desk.close() } }

    /// The near end of a connection on which a device wants to be linked.
    func pairing() -> PairingDriver {
        var random = SystemRandom()
        let offer = state.withLock { $0.desk.offer(at: SystemClock.now.monotonic) }
        let pairing = Pairing(
            awaiting: offer, credentials: credentials, network: network, using: &random)
        return PairingDriver(pairing) { [weak self] outcome, driver in
            switch outcome {
            case .asked(let request): self?.judge(request, by: offer, driver)
            case .rejected(let rejection): self?.count(rejection)
            case .accepted, .closed: break
            }
        }
    }

    /// The secret was known. Whether it is still good is seen now, and the node asked.
    private func judge(
        _ request: DeviceRequest, by offer: PairingDesk.Offer?, _ driver: PairingDriver
    ) {
        do throws(LinkRejection) {
            guard let offer else { throw .nobodyAwaited }
            let now = SystemClock.now.monotonic
            let refused = state.withLock { state -> LinkRejection? in
                do throws(LinkRejection) {
                    try state.desk.redeem(offer, by: request.device, at: now)
                    return nil
                } catch { return error }
            }
            if let refused { throw refused }
        } catch {
            count(error)
            return driver.refuse()
        }
        let task = Task { [inputs] in
            // Refused: the new device is told nothing, and says so to its person.
            guard case .card(let card)? = try? await inputs.perform(.addDevice(request)) else {
                return driver.refuse()
            }
            // A device that was never told cannot tell; the new one then asks its person.
            let backup = try? await inputs.read { views in
                try NodeKeys.backupCertificate(of: views.core.node.log.root, in: views.store)
            }
            driver.answer(card, backup: backup ?? nil)
        }
        state.withLock { $0.dials[request.device] = task }
    }
}

/// A new device's calls to the one that showed it a text, until one of them is answered.
enum DeviceCall {
    /// How long one address is tried, and an answer awaited.
    static let timeMax: Duration = .seconds(20)

    /// Becomes the person's device; returns their card and identity log, and what their backups are
    /// sealed to, where the other device knew that.
    static func make(
        _ offer: DeviceOffer, as key: DeviceSigningKey, noise: DeviceNoiseKey, name: String,
        prekey: PrekeyCertificate, network: NetworkID
    ) async throws -> (card: Card, log: IdentityLog, backup: BackupCertificate?) {
        let transport = Transport()
        var isReached = false
        var rejection: LinkRejection?
        for text in offer.addresses {
            // An invalid address is skipped.
            guard let endpoint = try? Endpoint(text) else { continue }
            var random = SystemRandom()
            let pairing = Pairing(
                calling: offer.noiseKey, of: offer.person, secret: offer.secret, as: key,
                noiseKey: noise, name: name, prekey: prekey, network: network, using: &random)
            let (outcomes, continuation) = AsyncStream.makeStream(of: PairingDriver.Outcome.self)
            let driver = PairingDriver(pairing) { outcome, _ in
                continuation.yield(outcome)
                if case .closed = outcome { continuation.finish() }
            }
            do {
                try await transport.dial(endpoint, within: NodeNetwork.dialTimeMax, handler: driver)
            } catch { continue }
            isReached = true
            for await outcome in outcomes {
                switch outcome {
                case .accepted(let card, let log, let backup):
                    await transport.shutdown()
                    return (card, log, backup)
                case .rejected(let reason): rejection = reason
                case .asked, .closed: break
                }
            }
        }
        await transport.shutdown()
        throw error(isReached: isReached, rejection)
    }

    private static func error(isReached: Bool, _ rejection: LinkRejection?) -> NodeError {
        guard isReached else {
            return NodeError(
                "unreachable", "The other device cannot be reached from here.",
                hint: "Both must be in one network, and the other one must be running.")
        }
        switch rejection {
        case .badBackupKey:
            return NodeError(
                "bad-backup-key",
                "The other device passed on a key for backups that your recovery code did not "
                    + "sign, so this device was not linked.",
                hint:
                    "Somebody else may control that device: link from another one, and revoke it. "
                    + "If it only runs an older version, update it and make a new text there.")
        case .otherDevice, .notCertified, .badIdentity, .malformedHello:
            return NodeError(
                "other-device", "What answered there is not the device that made this text.",
                hint: "Make a new text on it: “parley device link”")
        default:
            return NodeError(
                "link-refused",
                "The other device refused: the text was used already, has expired, or is wrong.",
                hint: "Make a new one there: “parley device link”")
        }
    }
}
