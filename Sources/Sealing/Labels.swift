/// The purpose of a hash, a derived key or a signature.
///
/// Each purpose has its own label, and every label stands in this file, so that bytes made for
/// one purpose can never be taken for another. A label is hashed after a byte with its length:
/// no two labels with different messages spell the same input.
/// Source: `Protocol/02-encoding.md`, "Hashes".
public struct Label: Sendable {
    /// The length of the text in one byte, then the text.
    let prefixed: [UInt8]

    init(_ text: StaticString) {
        precondition(text.utf8CodeUnitCount < 256, "a label's length must fit one byte")
        prefixed = text.withUTF8Buffer { [UInt8($0.count)] + Array($0) }
    }

    // MARK: Operations and spaces

    /// The identifier of an operation: the one before it, then its bytes.
    public static let op = Label("lp1/op")
    /// The commitment to a payload.
    public static let body = Label("lp1/body")
    /// A signature over a log up to one operation.
    public static let head = Label("lp1/head")
    /// The name of a space.
    public static let space = Label("lp1/space")
    /// The name of a log.
    public static let log = Label("lp1/log")
    /// The authority that an operation was written under.
    public static let auth = Label("lp1/auth")
    /// The digest of a frontier.
    public static let digest = Label("lp1/digest")
    /// The digest of the content that a person sees.
    public static let view = Label("lp1/view")
    /// The hash that stands for a space in a list of spaces.
    public static let spaces = Label("lp1/spaces")
    /// The members of a roster.
    public static let roster = Label("lp1/roster")
    /// A signed statement that a device writes no more.
    public static let retire = Label("lp1/retire")
    /// The content of a file that is imported.
    public static let file = Label("lp1/file")
    /// The stored hash of a token for the local API.
    public static let accessToken = Label("lp1/token")
    /// The stored hash of a session of the page in a browser, and of the link that begins one.
    public static let pageSession = Label("lp1/page")

    /// A program's idempotency key for a message.
    public static let once = Label("lp1/once")

    // MARK: Persons and devices

    /// The name of a person: the hash of the first operation of the identity log.
    public static let user = Label("lp1/user")
    /// The identifier of an operation of an identity log.
    public static let identityOperation = Label("lp1/idop")
    /// The signature of an operation of an identity log.
    public static let identitySignature = Label("lp1/idsig")
    /// A new device's proof that it holds the key that is certified.
    public static let proofOfPossession = Label("lp1/pop")
    /// The signature of a part of a card.
    public static let card = Label("lp1/card")
    /// The digits that two persons compare.
    public static let fingerprint = Label("lp1/fp")
    /// The check characters of a recovery code.
    public static let recoveryCheck = Label("lp1/rec/check")
    /// The seed of the root key, from a recovery code.
    public static let recoveryRoot = Label("lp1/rec/root")
    /// The key that opens a person's backups, from a recovery code.
    public static let recoveryBackup = Label("lp1/rec/backup")

    // MARK: Backups

    /// The key of one backup.
    public static let backupFile = Label("lp1/bak/file")
    /// Which recovery code opens a backup.
    public static let backupMark = Label("lp1/bak/mark")
    /// The root's signature of the key that a person's backups are sealed to.
    public static let backupCertificate = Label("lp1/bak/sig")

    // MARK: Meeting

    /// The name of a network.
    public static let network = Label("lp1/network")
    /// The handshake's prologue.
    public static let noise = Label("lp1/noise")
    /// The shared key of a device that is linked.
    public static let pairing = Label("lp1/pair/psk")
    /// The name of an invite, from its secret.
    public static let invite = Label("lp1/inv")
    /// The key pair of a link into a group, from its secret.
    public static let groupInvite = Label("lp1/ginv")
    /// The key pair of the mailbox in which an invite's card lies, from its secret.
    public static let inviteMailbox = Label("lp1/inv/mbx")
    /// The key that seals the card in it.
    public static let inviteCard = Label("lp1/inv/card")
    /// The proof that an invite's secret is known, bound to one link.
    public static let redeem = Label("lp1/redeem")
    /// The same, bound to one letter.
    public static let redeemByLetter = Label("lp1/inv/letter")
    /// The signature by which a newcomer to a group shows that an invite's secret is known.
    public static let groupRedeem = Label("lp1/join")
    /// The signature by which a newcomer's device says that its person wants to come.
    public static let groupConsent = Label("lp1/come")

    // MARK: Epochs

    /// The signature of a prekey.
    public static let prekey = Label("lp1/prekey")
    /// The short name of a leaf.
    public static let leaf = Label("lp1/leaf")
    /// The causes of an epoch's operation.
    public static let epochDependencies = Label("lp1/ep/deps")
    /// All that an epoch's seals are bound to.
    public static let epochContext = Label("lp1/ep/ctx")
    /// The commitment to an epoch's seed.
    public static let epochCommitment = Label("lp1/ep/commit")
    /// An epoch's seed, from fresh randomness and what only its author knows.
    public static let epochSeed = Label("lp1/ep/seed")
    /// The key that seals the seed to one leaf.
    public static let epochSeal = Label("lp1/ep/seal")
    /// The first key of a device's chain in an epoch.
    public static let epochChain = Label("lp1/ep/chain")
    /// The key of the outer layer of an epoch's envelopes.
    public static let epochEnvelopes = Label("lp1/ep/env")
    /// The secret of an epoch's mailboxes.
    public static let epochMailboxes = Label("lp1/ep/mbx")

    /// The key of an epoch's mailbox of one day.
    public static let mailboxSeed = Label("lp1/mbx/seed")
    /// The name of a mailbox that all who have its key share.
    public static let dropMailbox = Label("lp1/mbx/drop")
    /// The name of one device's inbox.
    public static let inboxMailbox = Label("lp1/mbx/inbox")
    /// The name of a shelf, on which one device lays a file for others.
    public static let shelfMailbox = Label("lp1/mbx/shelf")
    /// The name under which a relay knows a key that may write into an inbox, or read a shelf.
    public static let mailboxWriter = Label("lp1/mbx/writer")

    // MARK: Relays

    /// A request to a relay, signed by the key of the mailbox that it is about.
    public static let relayRequest = Label("lp1/relay/req")
    /// An envelope as a relay tells it from others.
    public static let relayBlob = Label("lp1/relay/blob")
    /// A ticket as a relay keeps it.
    public static let relayTicket = Label("lp1/relay/ticket")

    /// The tag by which holders of a device's card recognise it on a local network.
    public static let localTag = Label("lp1/lan/tag")

    // MARK: Envelopes

    /// The key of one step of a chain.
    public static let stepKey = Label("lp1/ms/key")
    /// The next key of a chain.
    public static let nextChainKey = Label("lp1/ms/next")
    /// The key that seals the content of an envelope.
    public static let messageKey = Label("lp1/ms/enc")
    /// The nonce with which it is sealed.
    public static let messageNonce = Label("lp1/ms/nonce")
    /// The key of envelopes that may be forgotten.
    public static let volatileEnvelope = Label("lp1/eph")
    /// The content of an envelope.
    public static let envelope = Label("lp1/env")
    /// The signature of the device that uploads an envelope.
    public static let envelopeSignature = Label("lp1/envsig")
    /// The key that seals a letter to one device's prekey.
    public static let letter = Label("lp1/inbox")
    /// The signature of the author of a letter.
    public static let letterSignature = Label("lp1/inboxsig")
    /// The key that seals to one device's prekey what nobody keeps.
    public static let passingLetter = Label("lp1/pass")
    /// The signature of the author of such a signal.
    public static let passingSignature = Label("lp1/passsig")
    /// The key by which a device owns its inbox on a relay.
    public static let inboxOwner = Label("lp1/inbox/own")
    /// The key by which others may write into it.
    public static let inboxWriter = Label("lp1/inbox/write")

    // MARK: Files

    /// A sealed chunk of a file.
    public static let fileChunk = Label("lp1/blob/leaf")
    /// The hashes of a section's chunks.
    public static let fileSection = Label("lp1/blob/section")
    /// The name of a sealed file, from its size and the hashes of its sections.
    public static let blob = Label("lp1/blob")
    /// The key by which a device owns the shelf of a file.
    public static let shelfOwner = Label("lp1/shelf/own")
    /// The key by which those who can open a file read its shelves.
    public static let shelfReader = Label("lp1/shelf/read")
    /// The key that seals data on a shelf beside chunks.
    public static let shelfPart = Label("lp1/shelf/part")
    /// The nonce with which it is sealed.
    public static let shelfNonce = Label("lp1/shelf/nonce")

    // MARK: At rest

    /// A keyed hash by which a sealed value is looked up.
    public static let row = Label("lp1/ks/row")
    /// The nonce of a sealed row.
    public static let rowNonce = Label("lp1/ks/nonce")
    /// The short name for row content that is longer than a derivation takes.
    public static let rowContent = Label("lp1/ks/content")
    /// A key for data, from the key of the vault.
    public static let bucket = Label("lp1/ks/bucket")
    /// The key that seals a keystore which a key file locks.
    public static let keystoreKey = Label("lp1/ks/key")
    /// A term in the index of words.
    public static let word = Label("lp1/ks/word")
    /// The content of a file that was sent from here, by which it is known again.
    public static let ownFile = Label("lp1/ks/file")
    /// The guard file, until its key became one of the vault.
    public static let guardFile = Label("lp1/ks/guard")
}
