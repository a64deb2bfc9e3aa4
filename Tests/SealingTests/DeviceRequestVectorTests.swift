import ParleyWire
import Testing

@testable import ParleySealing

/// The vectors of `Protocol/04-links.md`, "Linking a device", made by another implementation.
@Suite("Device request vectors")
struct DeviceRequestVectorTests {
    struct RequestCase: Decodable {
        let why: String
        let request, person, linkKey: Hex
        let device, name: String?
        let prekey: Hex?
        let refusal: String?
    }

    @Test("requests are read, proven and refused as the vectors say")
    func requests() throws {
        let cases = try Vectors.cases("links/device-requests.json", as: RequestCase.self)
        for vector in cases {
            let noiseKey = try #require(NoiseKey(vector.linkKey.bytes))
            let person = try #require(PersonID(vector.person.bytes))
            do {
                let request = try DeviceRequest(vector.request.bytes, noiseKey: noiseKey)
                guard request.isProven(to: person) else {
                    #expect(vector.refusal == "badProof", "\(vector.why)")
                    continue
                }
                #expect(vector.refusal == nil, "\(vector.why)")
                #expect(request.device.description == vector.device, "\(vector.why)")
                #expect(request.name == vector.name, "\(vector.why)")
                #expect(request.prekey?.bytes == vector.prekey?.bytes, "\(vector.why)")
                #expect(request.encoded == vector.request.bytes, "\(vector.why)")
            } catch {
                #expect(error == .malformedHello, "\(vector.why)")
                #expect(vector.refusal == "malformedHello", "\(vector.why)")
            }
        }
    }

    struct TextCase: Decodable {
        let secret: Hex?
        let psk: String?
    }

    @Test("the shared key grows from the secret of the text")
    func sharedKey() throws {
        for vector in try Vectors.cases("links/device-texts.json", as: TextCase.self) {
            guard let secret = vector.secret else { continue }
            let key = Pairing.sharedKey(secret.bytes)
            #expect(key.withUnsafeBytes { hex($0) } == vector.psk)
        }
    }
}
