import ArgumentParser
import Foundation
import Parley

struct GroupPictureCommand: OneGroupCommand {
    static let configuration = CommandConfiguration(
        commandName: "picture",
        abstract: "set, save or remove the picture of a group",
        discussion: """
            Owners and admins may set it; every member sees it. vipsthumbnail or ffmpeg, whichever \
            is installed, makes it small and removes its metadata, such as place and camera. \
            --remove removes the picture, --save writes it into a file.

            Example:
              parley group picture trip lake.jpg
              parley group picture trip --save trip.jpg
            """)

    @OptionGroup var options: GroupOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "a file with a picture", completion: .file())
    var file: String?
    @Flag(name: .long, help: "remove the picture")
    var remove = false
    @Option(
        name: .long, help: ArgumentHelp("write the picture into a file", valueName: "file"),
        completion: .file())
    var save: String?

    func validate() throws {
        for path in [file, save].compactMap({ $0 }) { try Check.file(path) }
        guard [file != nil, remove, save != nil].count(where: { $0 }) == 1 else {
            throw ValidationError("Give one of a file, --remove and --save.")
        }
    }

    func run(with node: any NodeService) async throws {
        if let save {
            let picture = try await node.perform(GetGroupPicture(conversation: group))
            guard try picture.write(to: save) else {
                throw NodeError("no-picture", "\(harmless(group)) has no picture.")
            }
            return try Output.show(picture, json: output.json, as: "saved \(harmless(save))")
        }
        let bytes = try file.map { try SmallPicture.bytes(ofFile: absolutePath($0)) } ?? []
        try await node.perform(
            ChangeGroupPicture(conversation: group, picture: Data(bytes).base64EncodedString()))
        let changed = try await node.perform(GetGroup(conversation: group))
        try Output.show(changed, json: output.json, as: GroupShow.text(changed))
    }
}

extension PictureView {
    /// Writes it into a file that is not there yet. Returns whether there is one.
    func write(to file: String) throws -> Bool {
        guard let bytes = Data(base64Encoded: base64), !bytes.isEmpty else { return false }
        let path = absolutePath(file)
        do {
            try bytes.write(to: URL(filePath: path), options: .withoutOverwriting)
        } catch {
            throw NodeError(
                "unwritable", "\(path) cannot be written, or is there already.",
                hint: "Give another name: nothing is overwritten.")
        }
        return true
    }
}
