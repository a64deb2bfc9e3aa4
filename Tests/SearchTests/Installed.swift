import Foundation
import ParleySearch

/// Models that are on this machine.
enum Installed {
    static let models = ModelFolder(ModelFolder.usual(ProcessInfo.processInfo.environment))

    static func has(_ model: ModelPackage) -> Bool { models.isInstalled(model) }
    static func folder(_ model: ModelPackage) -> String { models.folder(of: model) }
}
