import ParleyWire
import Testing

@testable import ParleySealing

@Suite("Links: the handshake")
struct LinkHandshakeTests {
    @Test("two devices prove to each other who they are", arguments: [Int.max, 1, 7])
    func authentication(piece: Int) throws {
        var pair = try LinkPair()
        try pair.shake(piece: piece)
        #expect(pair.caller.peer?.device == pair.ben.signer.device)
        #expect(pair.callee.peer?.device == pair.ada.signer.device)
        #expect(pair.callee.peer?.person == pair.ada.log.person)
        #expect(pair.callee.peer?.identity == pair.ada.log)
        #expect(pair.caller.isAuthenticated && pair.callee.isAuthenticated)
        #expect(pair.caller.handshakeHash == pair.callee.handshakeHash)
        #expect(pair.caller.handshakeHash.count == 64)
    }

    @Test(
        "Attack 1: any flipped byte of the first three messages ends the handshake unauthenticated")
    func flips() throws {
        for message in 0..<3 {
            // The third message is long: every byte of its start, then every seventeenth.
            var place = 0
            while true {
                var pair = try LinkPair()
                var isPast = false
                var rejection: LinkRejection?
                do throws(LinkRejection) {
                    try pair.shake { index, bytes in
                        guard index == message else { return }
                        guard place < bytes.count else { return isPast = true }
                        bytes[place] ^= 0x41
                    }
                } catch { rejection = error }
                if isPast { break }
                #expect(!pair.callee.isAuthenticated && !pair.caller.isAuthenticated)
                // A length that grew is waited for; everything else is refused.
                #expect(rejection != nil || (message == 2 && place < 2), "\(message) \(place)")
                #expect(pair.frames.callee.isEmpty)
                place += place < 160 ? 1 : 17
            }
        }
    }

    @Test(
        "Attack 2: a selector or version that is not ours is refused",
        arguments: [[3, 1, 1], [1, 2, 9], [1, 0, 0], [1, 2, 1]])
    func openings(opening: [UInt8]) throws {
        var pair = try LinkPair()
        #expect(throws: LinkRejection.unsupported) { try pair.callee.receive(opening) }
    }

    @Test(
        "Attack 2: an opening that was altered on the way fails, though both versions are supported"
    )
    func downgrade() throws {
        var pair = try LinkPair()
        #expect(throws: LinkRejection.undecipherable) {
            try pair.shake { index, bytes in if index == 0 { bytes[2] = 9 } }
        }
    }

    @Test("Attack 2: devices of different networks cannot shake hands")
    func networks() throws {
        var pair = try LinkPair(calleeNetwork: NetworkID(named: "another"))
        #expect(throws: LinkRejection.undecipherable) { try pair.shake() }
    }

    @Test("a call to another key than the callee's fails at the first message")
    func wrongKey() throws {
        var pair = try LinkPair(calling: try TestDevice(9).noiseKey.publicKey)
        #expect(throws: LinkRejection.undecipherable) { try pair.shake() }
    }

    @Test("Attack 3: a first message that is played again makes no peer and no frame")
    func replay() throws {
        var pair = try LinkPair()
        let opening = pair.caller.start()
        _ = try pair.deliver(opening, toCallee: true)
        var second = try LinkPair()
        var random = SeededRandom(44)
        second.callee = Link(responder: second.ben.credentials, network: .main, using: &random)
        _ = try second.deliver(opening, toCallee: true)
        #expect(second.callee.peer == nil)
        #expect(throws: LinkRejection.undecipherable) {
            try second.deliver(
                [0, 100] + [UInt8](repeating: 7, count: 100), toCallee: true)
        }
    }

    @Test("Attack 4: an ephemeral key of small order is refused", arguments: [0, 1] as [UInt8])
    func smallOrder(first: UInt8) throws {
        var pair = try LinkPair()
        #expect(throws: LinkRejection.weakKey) {
            try pair.shake { index, bytes in
                guard index == 0 else { return }
                bytes.replaceSubrange(5..<37, with: [first] + [UInt8](repeating: 0, count: 31))
            }
        }
        let zero = try #require(NoiseKey([UInt8](repeating: 0, count: 32)))
        var calling = try LinkPair(calling: zero)
        #expect(calling.caller.start().isEmpty)
        #expect(calling.caller.rejection == .weakKey)
    }

    @Test("lengths that the handshake does not have are refused before their bytes come")
    func lengths() throws {
        for length: [UInt8] in [[0, 15], [0, 49], [255, 255]] {
            var pair = try LinkPair()
            #expect(throws: LinkRejection.malformedHandshake) {
                try pair.callee.receive([1, 1, 1] + length)
            }
        }
    }

    @Test("Attack 5: a key that the shown identity does not certify is refused")
    func uncertified() throws {
        let ada = try TestDevice(1)
        let stranger = try TestDevice(5)
        let impostor = TestDevice(
            signer: stranger.signer, noiseKey: stranger.noiseKey, log: ada.log)
        var pair = try LinkPair(ada: impostor)
        #expect(throws: LinkRejection.notCertified) { try pair.shake() }
        var back = try LinkPair(ben: impostor)
        #expect(throws: LinkRejection.notCertified) { try back.shake() }
    }

    @Test("Attack 6: a device that its own identity revokes is refused")
    func revoked() throws {
        var random = SeededRandom(1)
        let ada = try TestDevice(1)
        let old = DeviceSigningKey.generate(using: &random)
        #expect(old.device == ada.signer.device)
        let log = try ada.log.merging([ada.log.revoking(old.device, by: old)])
        var pair = try LinkPair(
            ada: TestDevice(signer: ada.signer, noiseKey: ada.noiseKey, log: log))
        #expect(throws: LinkRejection.notCertified) { try pair.shake() }
    }

    @Test("the device that was called is the one that must answer")
    func expected() throws {
        var right = try LinkPair(expecting: try TestDevice(2).signer.device)
        try right.shake()
        #expect(right.caller.isAuthenticated)
        var wrong = try LinkPair(expecting: try TestDevice(1).signer.device)
        #expect(throws: LinkRejection.otherDevice) { try wrong.shake() }
    }

    @Test("an identity whose signature is broken is told apart")
    func brokenIdentity() throws {
        let ada = try TestDevice(1)
        var identity = ada.log.encoded
        identity[0][identity[0].count - 1] ^= 1
        var random = SeededRandom(3)
        var pair = try LinkPair()
        pair.caller = Link(
            initiatorTo: pair.ben.noiseKey.publicKey, expecting: nil,
            credentials: LinkCredentials(
                person: ada.log.person, device: ada.signer.device, noiseKey: ada.noiseKey,
                identity: identity), network: .main, using: &random)
        #expect(throws: LinkRejection.badIdentity(.badSignature)) { try pair.shake() }
    }

    @Test("a closed link stays closed, and seals nothing")
    func closed() throws {
        var pair = try LinkPair()
        try pair.shake()
        let garbage = [0, 160] + [UInt8](repeating: 1, count: 160)
        #expect(throws: LinkRejection.undecipherable) { try pair.callee.receive(garbage) }
        #expect(throws: LinkRejection.undecipherable) {
            try pair.callee.receive(pair.caller.seal([[1]]))
        }
        #expect(pair.callee.seal([[1]]).isEmpty)
        #expect(pair.callee.rekey().isEmpty)
    }
}

@Suite("Links: records")
struct LinkRecordTests {
    private func linked() throws -> LinkPair {
        var pair = try LinkPair()
        try pair.shake()
        return pair
    }

    private func frame(_ count: Int, _ seed: UInt8 = 1) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ Int(seed)) }
    }

    @Test("frames of every size come out as they went in, both ways")
    func sizes() throws {
        var pair = try linked()
        let counts = [
            0, 1, 120, 121, 122, 65_511, 65_512, 65_513, 65_516, 131_028, 131_029,
            Limits.frameByteCountMax,
        ]
        for count in counts {
            let frame = frame(count)
            _ = try pair.deliver(pair.caller.seal([frame]), toCallee: true)
            _ = try pair.deliver(pair.callee.seal([frame]), toCallee: false, piece: 4096)
            #expect(pair.frames.callee == [frame] && pair.frames.caller == [frame], "\(count)")
            pair.frames = ([], [])
        }
    }

    @Test("a batch of many frames comes out in order, however the stream is cut")
    func batches() throws {
        var pair = try linked()
        let batch = (0..<300).map { frame(($0 * 37) % 3000, UInt8(truncatingIfNeeded: $0)) }
        for piece in [1000, 65_536, Int.max] {
            _ = try pair.deliver(pair.caller.seal(batch), toCallee: true, piece: piece)
            #expect(pair.frames.callee == batch)
            pair.frames.callee = []
        }
        #expect(pair.caller.seal([]).isEmpty)
    }

    @Test("what ends a batch is padded, so lengths say little")
    func padding() throws {
        var pair = try linked()
        let expected = [
            (0, 128), (121, 128), (122, 512), (505, 512), (2000, 2048), (40_000, 65_519),
        ]
        for (count, padded) in expected {
            #expect(pair.caller.seal([frame(count)]).count == 2 + padded + 16, "\(count)")
        }
        // One full record, then the rest.
        #expect(pair.caller.seal([frame(65_600)]).count == 2 + 65_535 + 2 + 128 + 16)
    }

    @Test("Attack 7: a record that is repeated, left out, swapped, cut or altered closes the link")
    func tampering() throws {
        let cases: [(inout [[UInt8]]) -> Void] = [
            { $0[1] = $0[0] }, { $0.remove(at: 0) }, { $0.swapAt(0, 1) },
            { $0[0][60] ^= 1 }, { $0[0][145] ^= 1 },
        ]
        for tamper in cases {
            var pair = try linked()
            var records = (0..<3).map { pair.caller.seal([[UInt8($0)]]) }
            tamper(&records)
            #expect(throws: LinkRejection.undecipherable) {
                try pair.deliver(records.flatMap { $0 }, toCallee: true)
            }
            #expect(pair.callee.rejection == .undecipherable)
        }
        var pair = try linked()
        let whole = pair.caller.seal([[1]])
        _ = try pair.deliver(Array(whole.dropLast()), toCallee: true)
        #expect(pair.frames.callee.isEmpty)
        var short = try linked()
        #expect(throws: LinkRejection.malformedRecord) {
            try short.callee.receive([0, 15])
        }
    }

    @Test("a record is no answer to its own sender")
    func reflection() throws {
        var pair = try linked()
        let record = pair.caller.seal([[1]])
        #expect(throws: LinkRejection.undecipherable) {
            try pair.deliver(record, toCallee: false)
        }
    }

    @Test("Attack 7: a frame above the limit is refused by its length alone")
    func oversize() throws {
        var pair = try linked()
        let count = Limits.frameByteCountMax + 1
        let batch = pair.caller.seal([frame(count)])
        #expect(throws: LinkRejection.frameTooLarge(byteCount: count)) {
            try pair.deliver(Array(batch.prefix(65_537)), toCallee: true)
        }
    }

    @Test("Attack 8: rekeying in the middle is not noticed, missing it is")
    func rekeying() throws {
        var pair = try linked()
        for round in 0..<5 {
            let announcement = pair.caller.rekey()
            let back = pair.callee.rekey() + pair.callee.seal([[9]])
            _ = try pair.deliver(
                pair.caller.seal([]) + announcement + pair.caller.seal([[UInt8(round)]]),
                toCallee: true)
            _ = try pair.deliver(back, toCallee: false)
        }
        #expect(pair.frames.callee == [[0], [1], [2], [3], [4]])
        #expect(pair.frames.caller.count == 5)
        _ = pair.caller.rekey()
        #expect(throws: LinkRejection.undecipherable) {
            try pair.deliver(pair.caller.seal([[1]]), toCallee: true)
        }
    }

    @Test("Attack 9: both directions pass 2^14 records at once")
    func manyRecords() throws {
        var pair = try linked()
        let count = SealedRecords.rekeyRecordCount + 3
        for _ in 0..<count {
            let there = pair.caller.seal([[1]])
            let back = pair.callee.seal([[2]])
            _ = try pair.deliver(there, toCallee: true)
            _ = try pair.deliver(back, toCallee: false)
        }
        #expect(pair.frames.callee.count == count && pair.frames.caller.count == count)
    }

    @Test("a peer that keeps its key too long is refused")
    func overdue() throws {
        let key = WipedBytes(byteCount: 32) { $0[0] = 1 }
        var sender = CipherState(key)
        var records = SealedRecords((CipherState(key), CipherState(key)))
        var plaintext = [UInt8](repeating: 0, count: 128)
        plaintext[2] = 0
        var sealed = [UInt8](repeating: 0, count: 144)
        let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
        for index in 0...SealedRecords.rekeyRecordCount {
            sealed.withUnsafeMutableBytes { output in
                plaintext.withUnsafeBytes {
                    sender.encrypt($0, authenticating: nothing, into: output)
                }
            }
            if index < SealedRecords.rekeyRecordCount {
                try records.open(sealed[...]) { _ in }
            } else {
                #expect(throws: LinkRejection.rekeyOverdue) {
                    try records.open(sealed[...]) { _ in }
                }
            }
        }
    }

    @Test(
        "a record that opens and has another form is refused",
        arguments: [
            [0: 4], [0: 255], [1: 1], [2: 126], [127: 1], [2: 5],
            // Says that it goes on and is as full as the longest, and is short.
            [0: 1, 1: 0xff, 2: 0xec],
        ] as [[Int: UInt8]])
    func forms(changed: [Int: UInt8]) throws {
        let key = WipedBytes(byteCount: 32) { $0[0] = 1 }
        var sender = CipherState(key)
        var records = SealedRecords((CipherState(key), CipherState(key)))
        // A batch of one frame of one byte: 0 ‖ 5 ‖ (1, its byte).
        var plaintext: [UInt8] = [0, 0, 5, 0, 0, 0, 1, 42]
        plaintext += [UInt8](repeating: 0, count: 120)
        let isSound = changed.allSatisfy { plaintext[$0.key] == $0.value }
        for (place, value) in changed { plaintext[place] = value }
        var sealed = [UInt8](repeating: 0, count: 144)
        sealed.withUnsafeMutableBytes { output in
            plaintext.withUnsafeBytes {
                sender.encrypt(
                    $0, authenticating: UnsafeRawBufferPointer(start: nil, count: 0), into: output)
            }
        }
        if isSound {
            var found: [[UInt8]] = []
            try records.open(sealed[...]) { found.append($0) }
            #expect(found == [[42]])
        } else {
            #expect(throws: LinkRejection.malformedRecord) {
                try records.open(sealed[...]) { _ in }
            }
        }
    }

    @Test("secrets of a link are not in its description")
    func redacted() throws {
        let pair = try linked()
        var shown = "\(pair.caller)"
        dump(pair.caller, to: &shown)
        let secret = pair.ada.noiseKey.scalar.withUnsafeBytes { Array($0) }
        #expect(!shown.contains(hex(secret)))
        #expect(!shown.contains("\(secret)"))
        #expect(!shown.contains("- \(secret[0])\n    - \(secret[1])"))
        #expect(shown.contains("redacted"))
    }
}
