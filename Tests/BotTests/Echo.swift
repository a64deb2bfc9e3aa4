// Says again what others say in a conversation: echo HOME TOKEN CONVERSATION STATE
//
// Killed at any moment and started again it answers each message once: it goes on where it was,
// and what it says again under the same name is written once.
import Foundation
import FoundationNetworking

let words = CommandLine.arguments
let (home, token, conversation, state) = (words[1], words[2], words[3], words[4])

func ask(_ path: String, _ body: [String: Any]? = nil) async throws -> [String: Any] {
    let address = try String(contentsOfFile: home + "/http", encoding: .utf8).dropLast()
    guard let url = URL(string: "http://\(address)\(path)") else { throw URLError(.badURL) }
    var request = URLRequest(url: url, timeoutInterval: 90)
    request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
    request.httpMethod = body == nil ? "GET" : "POST"
    request.httpBody = try body.map { try JSONSerialization.data(withJSONObject: $0) }
    let (data, _) = try await URLSession.shared.data(for: request)
    let answer = try JSONSerialization.jsonObject(with: data) as? [String: Any] ?? [:]
    guard answer["error"] == nil else { throw URLError(.badServerResponse) }
    return answer
}

while true {
    do {
        let cursor = (try? String(contentsOfFile: state, encoding: .utf8)) ?? ""  // none at first
        let page = try await ask("/changes" + (cursor.isEmpty ? "" : "?wait=60&since=" + cursor))
        for change in page["changes"] as? [[String: Any]] ?? []
        where change["isNew"] as? Bool == true {
            guard let message = change["message"] as? [String: Any], let id = message["id"],
                let text = message["text"], message["isOwn"] as? Bool == false
            else { continue }
            let answer: [String: Any] = [
                "conversation": conversation, "texts": [text], "replyTo": id, "once": id,
            ]
            _ = try await ask(
                "/rpc", ["jsonrpc": "2.0", "id": 1, "method": "send", "params": answer])
        }
        try (page["cursor"] as? String)?.write(toFile: state, atomically: true, encoding: .utf8)
    } catch { try await Task.sleep(for: .milliseconds(200)) }  // the node is away: it comes back
}
