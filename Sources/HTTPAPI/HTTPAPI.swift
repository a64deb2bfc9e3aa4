internal import NIOCore

/// The requests that a program on this machine can send to a running node over HTTP, on a loopback
/// address.
///
/// **Contract.** `POST /rpc` takes JSON-RPC 2.0, single and in batches, with the methods and errors
/// of the socket. `GET /events` sends changes as server-sent events, `GET /changes` as pages that
/// can be waited for, `GET /metrics` the state of the node, `GET /healthz` that it is running.
/// Everything but the last needs a bearer token, and each request needs the scope in its
/// declaration. A page from another origin gets nothing: `Host` and `Origin` must be this server's
/// own.
/// Source: `Protocol/14-local-api.md`.
///
/// **Bounds.** A client without a token costs a place among ``guestCountMax``, ``headByteCountMax``
/// bytes and ``Times/head``; one with a token, a body at a time, and what the system buffers for
/// it.
public enum HTTPAPI {
    /// Connections at once, at most.
    static let connectionCountMax = 128
    /// Those of them that showed no token, at most: the oldest makes room for the newest.
    static let guestCountMax = 64
    /// What such a connection has of time before it may have to make room.
    static let guestTimeMin = TimeAmount.seconds(1)
    /// A request's line and fields, at most. Source: the usual bound of servers is 8 KiB a field.
    static let headByteCountMax = 16 << 10
    /// Fields of a request, at most.
    static let fieldCountMax = 64
    /// Bodies of all requests that are read or answered, at most.
    static let bodyByteCountMax = 32 << 20
    /// Those of one token, at most: others find room beside it, whatever it does. One whole body fits.
    static let bodyOfTokenByteCountMax = bodyByteCountMax / 4
    /// Connections of one token that make room for nobody, at most; further ones do, as those that
    /// showed none.
    static let connectionOfTokenCountMax = connectionCountMax / 4
    /// Streams of events at once, and those of one token.
    static let streamCountMax = 32, streamOfTokenCountMax = 8
    /// How long a page of changes is waited for, at most, in seconds.
    static let waitSecondsMax = 60

    /// The file in a home that tells where its node listens; gone at the end.
    public static func addressPath(home: String) -> String { home + "/http" }
}

/// How long things may take. Tests have less patience.
struct Times: Sendable {
    /// Less than this in ``longBody`` is a client that holds a place for nothing.
    static let bodyByteCountMin = 64 << 10

    /// The first request's head, from the opening of the connection.
    var head = Duration.seconds(10)
    /// Nothing, until a further request's head is whole.
    var idle = Duration.seconds(60)
    /// A request's body.
    var body = Duration.seconds(30)
    /// A client that takes nothing of what waits for it.
    var stall = Duration.seconds(20)
    /// A body that may be long, until it has brought ``bodyByteCountMin`` more.
    var longBody = Duration.seconds(30)
    /// A file that comes in, with which nothing is done; one that is sealed, and that nobody sends.
    var upload = Duration.seconds(600), ticket = Duration.seconds(3_600)
    /// The interval between checks for expired connections.
    var sweep = Duration.seconds(30)
    /// A stream that has nothing to tell, until it says that it is still there.
    var keepAlive = Duration.seconds(15)
}
