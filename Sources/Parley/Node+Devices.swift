import ParleyLedger
import ParleyNodeCore
import ParleySealing
import ParleyStorage
import ParleyWire

extension Node {
    /// Makes this folder a further device of the person who runs the node that made `text`.
    ///
    /// The node that is returned has begun to fetch what the other devices hold, newest first.
    ///
    /// - Parameters:
    ///   - settings: where the new home is to be.
    ///   - text: what `openLink` returned on the other device.
    ///   - name: what the new device is called; may be empty.
    /// - Throws: ``NodeError`` with a hint. Nothing is left behind then.
    public static func join(
        _ settings: NodeSettings, text: String, name: String
    ) async throws -> Node {
        try requireVacant(settings.home)
        if !name.isEmpty, let refusal = NodeCore.refusal(personName: name) {
            throw NodeError(refusal)
        }
        let offer: DeviceOffer
        do {
            offer = try DeviceOffer(text: text)
        } catch {
            throw NodeError(
                "bad-link", "That is not a text of `parley device link`, or part of it is missing.",
                not: text, prefix: "parley-device:1:",
                hint: "Such a text begins with `parley-device:1:` and is one long word.")
        }
        guard SystemClock.now.wall < offer.expires else {
            throw NodeError(
                "expired", "That text has expired: it works for five minutes.",
                hint: "Make a new one there: “parley device link”. Are both clocks right?")
        }
        var random = SystemRandom()
        let key = DeviceSigningKey.generate(using: &random)
        let noise = DeviceNoiseKey.generate(using: &random)
        let prekey = Prekey(of: key, at: SystemClock.now.wall, using: &random)
        // The text is good once: it is not spent on a home that cannot be made.
        try explaining { try Home(settings.home).requireRoom() }
        // Asked before anything is made, so that a refusal leaves nothing behind.
        let (card, log, backup) = try await DeviceCall.make(
            offer, as: key, noise: noise, name: name, prekey: prekey.certificate,
            network: NetworkID(named: settings.network))
        let node = try making(settings) { store in
            try NodeKeys.keep(
                key: key, noise: noise, identity: log, card: card, prekey: prekey,
                backup: backup, in: store)
        }.node
        await node.begin()
        return node
    }
}
