import Foundation
import ParleySealing
import ParleyStorage
import ParleyWire

extension NodeError {
    /// Why a backup is not written over another one.
    init(replacing found: BackupWriter.Occupant, at file: String) {
        let moment = MomentWords(.current).moment(found.time)
        guard found.isOfSameCode else {
            self.init(
                "backup-of-another",
                "\(file) is a backup of another recovery code, which is another person's. It was "
                    + "written on \(moment), and is left as it is.",
                hint: "Name another file.")
            return
        }
        self.init(
            "older-backup",
            "\(file) is an older backup of yours, written on \(moment). It may hold what is not "
                + "here any more.",
            hint:
                "Name another file, or add --replace: then the new one takes its place once it is "
                + "whole.")
    }

    /// The message for bytes that are no backup of this person's.
    init(_ rejection: BackupRejection, file: String) {
        switch rejection {
        case .notABackup:
            self.init("no-backup", "\(file) is no backup of parley.")
        case .unknownVersion:
            self.init(
                "newer", "\(file) was written by another version of parley.",
                hint: "Use that version.")
        case .anotherCode:
            self.init(
                "another-code", "\(file) belongs to another recovery code.",
                hint: "Each person has their own code: look for the one of this backup.")
        case .truncated:
            self.init(
                "damaged-backup", "\(file) is cut off: its end is missing.",
                hint: "Take another copy of it. Nothing was changed.")
        case .damaged(let chunk):
            let place =
                BackupFormat.headerByteCount
                + Int(clamping: chunk) * BackupFormat.sealedChunkByteCount
            self.init(
                "damaged-backup",
                "\(file) is damaged or cut off, somewhere in the 64 KiB after byte \(place).",
                hint: "Take another copy of it. Nothing was changed.")
        }
    }

    /// The message for a backup that opens and is not valid.
    init(_ fault: BackupFault, file: String) {
        let hint = "Make a new backup where the node still runs. Nothing was changed."
        switch fault {
        case .malformed(.unknownVersion(_)):
            self.init(
                "newer", "\(file) was written by another version of parley.",
                hint: "Use that version.")
        case .malformed, .outOfOrder:
            self.init("bad-backup", "\(file) is not put together as a backup is.", hint: hint)
        case .unproven(let what):
            self.init("bad-backup", "\(file) does not hold: \(what) proves nothing.", hint: hint)
        case .anotherPerson:
            self.init("another-person", "\(file) is the backup of another person.")
        }
    }

    /// The message for an invalid recovery code.
    init(_ rejection: RecoveryCodeRejection) {
        switch rejection {
        case .strangeCharacter(let place):
            self.init(
                "bad-code", "Character \(place + 1) of the recovery code is none that codes have.",
                hint: "It has digits and letters, in fourteen groups of four.")
        case .wrongLength(let count):
            self.init(
                "bad-code", "The recovery code has 56 characters, this has \(count).",
                hint: "It has digits and letters, in fourteen groups of four.")
        case .mistyped:
            self.init(
                "bad-code", "That is no recovery code: a character is mistyped.",
                hint: "Compare it with the paper, group by group.")
        }
    }
}

extension RecoveryCode {
    /// Parses what a person typed.
    init(person text: String) throws(NodeError) {
        do throws(RecoveryCodeRejection) {
            try self.init(typed: text)
        } catch {
            throw NodeError(error)
        }
    }
}
