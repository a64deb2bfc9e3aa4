internal import Parley

/// The requests that a program on this machine can send to a running node, over a socket file in
/// its home.
///
/// **Contract.** One JSON object per line, in JSON-RPC 2.0. The methods are the requests that
/// `NodeRequests` lists, with their properties as parameters; `parley schema` describes them all.
/// Anybody who can open the file is the owner of the node, so the file is created with mode 0600
/// and nothing else is checked. Unknown methods, unknown parameters and missing ones are refused:
/// silently ignoring a misspelt parameter is how a message goes to the wrong place.
///
/// **Changes.** `follow` reports changes from now on, or after the `cursor` of an earlier change,
/// even from a node that was restarted since. Messages and everything else that is stored are
/// reported once each, in order, however many come at once and however slowly they are read: they
/// are read from the node's log when the connection takes them. What the log no longer keeps is
/// reported as one change of the kind `missed`. `changes` returns the same as pages. See
/// `ChangeView`.
///
/// **What it never knows.** What an operation, a key or a frame is. It passes plain values to the
/// node and back.
///
/// ```
///  → {"jsonrpc":"2.0","id":1,"method":"send","params":{"conversation":"home","texts":["hi"]}}
///  ← {"id":1,"jsonrpc":"2.0","result":[{"number":7,"text":"hi","state":"saved",…}]}
///  → {"jsonrpc":"2.0","id":2,"method":"follow"}
///  ← {"id":2,"jsonrpc":"2.0","result":{"cursor":"1a2b3c4d5.7"}}
///  ← {"jsonrpc":"2.0","method":"change","params":{"cursor":"1a2b3c4d5.8","kind":"message",…}}
///  → {"jsonrpc":"2.0","id":3,"method":"mute","params":{"conversation":"hoem","on":true}}
///  ← {"error":{"code":-32000,"data":{"code":"unknown-conversation"},"message":"…"},"id":3,…}
/// ```
public enum LocalAPI {
    /// The longest line either side takes, in bytes: a page of the longest messages fits.
    public static let lineByteCountMax = 8 << 20
    /// How many programs may be connected at once.
    public static let connectionCountMax = 64
    /// Messages in one page.
    public static let pageMessageCountMax = MessagePage.remoteMessageCountMax
    /// Requests of one batch, at most.
    public static let batchRequestCountMax = 100
    /// Lines of one connection that wait to be answered; above it no more are read.
    static let waitingLineCountMax = 64
    /// Changes that wait in a program that follows; above it no more are read from the socket.
    static let waitingChangeCountMax = 1_000

    /// Where the socket of a home is.
    public static func socketPath(home: String) -> String { home + "/socket" }
}
