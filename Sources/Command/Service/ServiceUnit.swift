import Foundation

/// How systemd runs a node for its person: a user unit, and sockets beside it for socket
/// activation.
struct ServiceUnit {
    /// The path of this program.
    var program: String
    /// The home, as an absolute path, and its name where it has one.
    var home: String
    var profile: String?
    /// The configuration, where it is not the usual one.
    var config: String?
    /// The port that systemd listens on for it; nil where the node listens itself.
    var socketPort: UInt16?

    /// What the unit is called, without what kind it is.
    static func name(of profile: String?) -> String { profile.map { "parley-\($0)" } ?? "parley" }

    /// Source: systemd.unit(5), the load path of the user manager.
    static func folder(_ environment: [String: String]) -> String {
        if let folder = environment["XDG_CONFIG_HOME"], folder.hasPrefix("/") {
            return folder + "/systemd/user"
        }
        return (environment["HOME"] ?? NSHomeDirectory()) + "/.config/systemd/user"
    }

    /// Whether an existing unit runs the same home.
    func isOf(_ unit: String) -> Bool {
        unit.contains("run --home \(Self.quoted(home))\n")
            || unit.contains("run --home \(Self.quoted(home)) ")
    }

    private var name: String { Self.name(of: profile) }

    /// The unit that runs it.
    var service: String {
        let arguments = ["run", "--home", home] + (config.map { ["--config", $0] } ?? [])
        let command = ([program] + arguments).map(Self.quoted).joined(separator: " ")
        let sockets = socketPort == nil ? "" : "Requires=\(name).socket\nAfter=\(name).socket\n"
        return """
            [Unit]
            Description=Parley node\(profile.map { " (\($0))" } ?? "")
            Documentation=man:parley(1)
            \(sockets)
            [Service]
            Type=notify
            ExecStart=\(command)
            ExecReload=kill -HUP $MAINPID
            Restart=on-failure
            RestartSec=5
            TimeoutStartSec=600
            TimeoutStopSec=30
            WatchdogSec=60
            UMask=0077
            LimitNOFILE=16384

            \(Self.confinement)
            ReadWritePaths=\(Self.quoted(home))

            [Install]
            WantedBy=default.target

            """
    }

    /// The sockets; nil where the node listens itself.
    var socket: String? {
        guard let socketPort else { return nil }
        return """
            [Unit]
            Description=Sockets of a Parley node\(profile.map { " (\($0))" } ?? "")
            Documentation=man:parley(1)

            [Socket]
            ListenStream=\(Self.escaped(home + "/socket"))
            ListenStream=0.0.0.0:\(socketPort)
            ListenStream=[::]:\(socketPort)
            BindIPv6Only=ipv6-only
            SocketMode=0600
            RemoveOnStop=yes

            [Install]
            WantedBy=sockets.target

            """
    }

    /// What keeps a node from what it has no business with. Its person has it write backups and saved files
    /// to places of their own, so that these stay open; programs that it starts for calls and notifications
    /// are the person's, so that devices for sound and pictures stay open and code may be made at run time.
    private static let confinement = """
        NoNewPrivileges=yes
        CapabilityBoundingSet=
        AmbientCapabilities=
        PrivateUsers=yes
        ProtectSystem=strict
        ReadWritePaths=%h /tmp /var/tmp -/media -/mnt -/run/media
        InaccessiblePaths=-%h/.ssh -%h/.gnupg
        DevicePolicy=closed
        DeviceAllow=char-alsa rw
        DeviceAllow=char-video4linux rw
        ProtectHostname=yes
        ProtectClock=yes
        ProtectKernelTunables=yes
        ProtectKernelModules=yes
        ProtectKernelLogs=yes
        ProtectControlGroups=yes
        ProtectProc=invisible
        ProcSubset=pid
        RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK
        RestrictNamespaces=yes
        RestrictRealtime=yes
        RestrictSUIDSGID=yes
        LockPersonality=yes
        KeyringMode=private
        SystemCallArchitectures=native
        SystemCallFilter=@system-service seccomp landlock_create_ruleset landlock_add_rule landlock_restrict_self
        SystemCallErrorNumber=EPERM
        """

    /// As systemd reads an argument: `%` and `$` mean something to it.
    private static func quoted(_ word: String) -> String {
        let escaped = escaped(word).replacing("$", with: "$$")
        let isPlain = escaped.allSatisfy {
            $0.isLetter || $0.isNumber || "-_./:*%$[]=".contains($0)
        }
        if isPlain && !escaped.isEmpty { return escaped }
        return "\"" + escaped.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }

    /// `%` begins a specifier everywhere.
    private static func escaped(_ word: String) -> String { word.replacing("%", with: "%%") }
}
