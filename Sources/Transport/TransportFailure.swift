import Glibc
import NIOCore
import NIOPosix

/// Why listening or dialling came to nothing.
public struct TransportFailure: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kinds that a caller may want to tell apart.
    public enum Code: Sendable, Equatable, Hashable {
        /// Nobody listens there.
        case refused
        /// No answer in time.
        case timedOut
        /// No way leads there.
        case unreachable
        /// The name means no address.
        case unknownHost
        /// Somebody else listens there already.
        case addressInUse
        /// The address is not one of this machine.
        case addressNotAvailable
        /// The system forbids it: a low port, a directory of somebody else.
        case notPermitted
        /// There is no such socket file, or no such directory.
        case noSuchFile
        /// The path is taken by something that is no socket, and is left alone.
        case notASocket
        /// A socket's path has at most 107 bytes.
        case pathTooLong
        /// An endpoint that can be listened on but not dialled: `*`, or port 0.
        case notDialable
        /// The peer closed before the connection could be used.
        case closedAtOnce
        /// The transport has been shut down.
        case shutDown
        /// Anything else, by the system's error number; 0 when there is none.
        case system(errno: Int32)
    }

    /// What went wrong.
    public let code: Code
    /// What was attempted, such as `dial 192.0.2.1:4711`.
    public let attempt: String
    /// The system's own words; may be empty.
    public let underlying: String

    /// `attempt: code (underlying)`.
    public var description: String {
        "\(attempt): \(code)" + (underlying.isEmpty ? "" : " (\(underlying))")
    }

    /// Why, in words for a person, as a part of a sentence.
    public var reason: String {
        switch code {
        case .refused: "nothing is listening there"
        case .timedOut: "there was no answer in time"
        case .unreachable: "the network has no route there"
        case .unknownHost: "that name has no address"
        case .addressInUse: "another program is already listening there"
        case .addressNotAvailable: "that is not an address of this machine"
        case .notPermitted: "the system does not allow it"
        case .noSuchFile: "there is no such folder"
        case .notASocket: "there is something else at that path"
        case .pathTooLong: "the path is too long"
        case .notDialable: "that is not an address to connect to"
        case .closedAtOnce: "the connection was closed at once"
        case .shutDown: "this program is stopping"
        case .system(let number): number == 0 ? underlying : String(cString: strerror(number))
        }
    }

    init(_ code: Code, attempt: String, underlying: String = "") {
        self.code = code
        self.attempt = attempt
        self.underlying = underlying
    }

    init(attempt: String, error: any Error) {
        self.init(Self.code(of: error), attempt: attempt, underlying: "\(error)")
    }

    private static func code(of error: any Error) -> Code {
        switch error {
        case let error as TransportFailure:
            error.code
        case let error as IOError:
            code(errno: error.errnoCode)
        case ChannelError.connectTimeout:
            .timedOut
        case SocketAddressError.unixDomainSocketPathTooLong:
            .pathTooLong
        case is SocketAddressError.UnknownHost:
            .unknownHost
        case EventLoopError.shutdown:
            .shutDown
        case let error as NIOConnectionError:
            error.connectionErrors.first.map { code(of: $0.error) } ?? .unknownHost
        default:
            .system(errno: 0)
        }
    }

    static func code(errno: Int32) -> Code {
        switch errno {
        case ECONNREFUSED: .refused
        case ETIMEDOUT: .timedOut
        case ENETUNREACH, EHOSTUNREACH, EAFNOSUPPORT: .unreachable
        case EADDRINUSE: .addressInUse
        case EADDRNOTAVAIL: .addressNotAvailable
        case EACCES, EPERM: .notPermitted
        case ENOENT, ENOTDIR: .noSuchFile
        case ENAMETOOLONG: .pathTooLong
        default: .system(errno: errno)
        }
    }
}
