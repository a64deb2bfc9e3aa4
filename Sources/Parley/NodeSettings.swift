import Foundation
import ParleySearch

/// The settings that a node is opened with. Only the folder is required.
public struct NodeSettings: Sendable {
    /// The folder that holds everything of the node; made with mode 0700 where it is missing.
    public var home: String
    /// Opens the keys; nil where the node has no passphrase.
    public var passphrase: [UInt8]?
    /// Links are only made within one network: a test's nodes never meet those of people.
    public var network: String
    /// Where models are installed; homes share them.
    public var models: String
    /// Whether nothing is logged: who opened it looks at its state, and tells a person.
    public var isSilent = false
    /// Whether nobody is linked: a repair reports what it lost before others restore it.
    public var isOffline = false
    /// Tests set time as they please.
    var clock = NodeClock.system

    /// Settings with this folder.
    public init(
        home: String, passphrase: [UInt8]? = nil, network: String = "parley",
        models: String? = nil
    ) {
        self.home = home
        self.passphrase = passphrase
        self.network = network
        self.models = models ?? ModelFolder.usual(ProcessInfo.processInfo.environment)
    }
}
