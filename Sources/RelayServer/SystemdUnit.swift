/// How systemd runs a relay: with a state folder of its own, and nothing else that it could touch.
public enum SystemdUnit {
    /// The unit, for `/etc/systemd/system/parley-relay.service`.
    ///
    /// - Parameters:
    ///   - program: the path of this program.
    ///   - home: the folder of the relay, and whose it is; nil for one that systemd makes, for a
    ///     user of its own.
    ///   - arguments: its arguments, as on the command line.
    public static func text(
        program: String, home: (path: String, user: String)? = nil, arguments: [String]
    ) -> String {
        let arguments = arguments + (home.map { ["--home", $0.path] } ?? [])
        // With everything else hidden, a folder of somebody's own has to be shown.
        let place =
            home.map {
                """
                User=\(quoted($0.user))
                BindPaths=\(quoted($0.path))
                ProtectHome=tmpfs
                """
            } ?? """
                DynamicUser=yes
                StateDirectory=parley-relay
                StateDirectoryMode=0700
                ProtectHome=yes
                """
        let command = ([program, "relay"] + arguments).map(quoted).joined(separator: " ")
        return """
            [Unit]
            Description=Parley relay
            After=network-online.target
            Wants=network-online.target

            [Service]
            ExecStart=\(command)
            Restart=on-failure
            RestartSec=2
            \(place)
            UMask=0077
            LimitNOFILE=65536
            TimeoutStopSec=20

            \(confinement)
            LimitMEMLOCK=infinity

            [Install]
            WantedBy=multi-user.target
            """
    }

    /// What keeps a relay from everything but its folder and the network.
    private static let confinement = """
        NoNewPrivileges=yes
        CapabilityBoundingSet=
        AmbientCapabilities=
        ProtectSystem=strict
        PrivateTmp=yes
        PrivateDevices=yes
        PrivateUsers=yes
        ProtectHostname=yes
        ProtectClock=yes
        ProtectKernelTunables=yes
        ProtectKernelModules=yes
        ProtectKernelLogs=yes
        ProtectControlGroups=yes
        ProtectProc=invisible
        ProcSubset=pid
        RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX
        RestrictNamespaces=yes
        RestrictRealtime=yes
        RestrictSUIDSGID=yes
        LockPersonality=yes
        MemoryDenyWriteExecute=yes
        RemoveIPC=yes
        SystemCallArchitectures=native
        SystemCallFilter=@system-service
        SystemCallFilter=~@privileged @resources
        """

    /// As systemd reads an argument: `%` and `$` mean something to it.
    private static func quoted(_ word: String) -> String {
        let escaped = word.replacing("%", with: "%%").replacing("$", with: "$$")
        let isPlain = escaped.allSatisfy {
            $0.isLetter || $0.isNumber || "-_./:*%$[]=".contains($0)
        }
        if isPlain && !escaped.isEmpty { return escaped }
        return "\"" + escaped.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }
}
