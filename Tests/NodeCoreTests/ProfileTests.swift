import ParleyConversation
import ParleySimulation
import Testing

@testable import ParleyNodeCore

/// Source: Protocol/05-identity.md, "Profiles".
@Suite("Profiles")
struct ProfileTests {
    @Test(
        "a field that breaks what its subject demands says nothing",
        arguments: [
            (ProfileField.Subject.status, "on the moon", true),
            (.status, String(repeating: "a", count: 257), false), (.language, "pt-BR", true),
            (.language, "en us", false), (.language, String(repeating: "a", count: 36), false),
            (.timeZone, "Etc/GMT+3", true), (.timeZone, "../../etc", false), (.timeZone, "", true),
            (.picture, "_9j_4A", true), (.picture, "", true), (.picture, "/9j/", false),
            (.picture, String(repeating: "A", count: 43_688), true),
            (.picture, String(repeating: "A", count: 43_696), false),
        ])
    func fields(subject: ProfileField.Subject, value: String, isSound: Bool) {
        #expect((ProfileField(subject, value) != nil) == isSound)
    }
}
