import Foundation
import ParleyWire
import Testing

@testable import Parley

@Suite("Small pictures of persons and groups")
struct SmallPictureTests {
    private let folder: TemporaryFolder
    private static let hasProgram =
        CagedProgram("vipsthumbnail") != nil || CagedProgram("ffmpeg") != nil

    init() throws { folder = try TemporaryFolder() }

    private func file(_ bytes: [UInt8], _ name: String = "a") throws -> String {
        let path = folder.home(name)
        try Data(bytes).write(to: URL(filePath: path))
        return path
    }

    /// Why a file is refused; nil where it is taken.
    private func refusal(
        of path: String, folders: [String] = CagedProgram.folders
    ) throws -> String? {
        do {
            _ = try SmallPicture.bytes(ofFile: path, folders: folders)
            return nil
        } catch let error as NodeError {
            return error.code
        }
    }

    @Test func `what is no file, no picture or too large is handed to no program`() throws {
        #expect(try refusal(of: folder.home("none")) == "unreadable")
        #expect(try refusal(of: folder.home("")) == "no-file")
        #expect(try refusal(of: "/dev/zero") == "no-file")
        #expect(try refusal(of: file([])) == "no-picture")
        #expect(try refusal(of: file(Array("GIF, but text".utf8))) == "no-picture")
        #expect(try refusal(of: file(Array("#!/bin/sh\n".utf8))) == "no-picture")
        let large = try file(RealPicture.jpeg(), "large")
        let handle = try #require(FileHandle(forWritingAtPath: large))
        try handle.truncate(atOffset: SmallPicture.sourceByteCountMax + 1)
        #expect(try refusal(of: large) == "too-large")
    }

    @Test func `without a program there is none, and one outside the system does not run`()
        throws
    {
        let picture = try file(RealPicture.jpeg())
        #expect(try refusal(of: picture, folders: []) == "no-program")
        // It would write where it may not, and say that all is well.
        let mark = folder.home("mark")
        let program = folder.home("vipsthumbnail")
        try Data("#!/bin/sh\ntouch \(mark)\ncat \"$1\"\n".utf8).write(to: URL(filePath: program))
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: program)
        #expect(try refusal(of: picture, folders: [folder.home("")]) == "no-picture")
        #expect(!FileManager.default.fileExists(atPath: mark))
    }

    @Test(.enabled(if: hasProgram))
    func `a picture is made small and tells nothing; what only begins as one is refused`() throws {
        let made = try SmallPicture.bytes(ofFile: file(RealPicture.jpeg()))
        #expect(made.count <= Limits.inlineFileByteCountMax)
        #expect(!made.contains(Array("SECRET".utf8)))
        let shown = try PreviewMaker.checked(made)
        #expect(shown.bytes == made && [shown.width, shown.height] == [240, 320])
        let fake = [0xFF, 0xD8, 0xFF, 0xE0] + [UInt8](repeating: 0, count: 20_000)
        #expect(try refusal(of: file(fake)) == "no-picture")
    }

    @Test("Attack 308: a picture of a person or a group is cleaned, whichever program gave it")
    func cleaning() throws {
        // A real one, without the long remark that makes it too large.
        let jpeg = RealPicture.jpeg()
        let remark = try #require(jpeg.firstRange(of: [0xFF, 0xFE]))
        let small = Array(jpeg[..<remark.lowerBound] + jpeg[(remark.upperBound + 40_002)...])
        #expect(small.contains(Array("SECRET".utf8)))
        #expect(small.count < Limits.inlineFileByteCountMax)
        let taken = try PictureView.bytes(Data(small).base64EncodedString())
        #expect(!taken.contains(Array("SECRET".utf8)) && FileKind.type(of: taken) == "image/jpeg")
        #expect(try PictureView.bytes(Data(taken).base64EncodedString()) == taken)
        #expect(try PictureView.bytes("").isEmpty)
        for bytes in [
            Array(small.prefix(60)), [0xFF, 0xD8, 0xFF, 0xE0] + [UInt8](repeating: 7, count: 200),
            Array("II*\0".utf8), Array("GIF89a".utf8), Array("#!/bin/sh".utf8),
            small + [UInt8](repeating: 0, count: Limits.inlineFileByteCountMax),
        ] {
            #expect(throws: NodeError.self) {
                try PictureView.bytes(Data(bytes).base64EncodedString())
            }
        }
    }
}
