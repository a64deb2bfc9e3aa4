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
                "\(file) is a backup for another recovery code, so it is another person's. It was "
                    + "written on \(moment), and was not changed.",
                hint: "Name another file.")
            return
        }
        self.init(
            "older-backup",
            "\(file) is an older backup of yours, written on \(moment). It may hold what is no "
                + "longer here.",
            hint:
                "Name another file, or add --replace: then the new one replaces it once it is "
                + "complete.")
    }

    /// The message for bytes that are no backup of this person's.
    init(_ rejection: BackupRejection, file: String) {
        switch rejection {
        case .notABackup:
            self.init("no-backup", "\(file) is not a backup of Parley.")
        case .unknownVersion:
            self.init(
                "newer", "\(file) was written by another version of Parley.",
                hint: "Use that version of Parley.")
        case .anotherCode:
            self.init(
                "another-code", "\(file) belongs to another recovery code.",
                hint:
                    "Each person has their own code: look for the one that belongs to this backup.")
        case .truncated:
            self.init(
                "damaged-backup", "\(file) is incomplete: its end is missing.",
                hint: "Use another copy of it. Nothing was changed.")
        case .damaged(let chunk):
            let place =
                BackupFormat.headerByteCount
                + Int(clamping: chunk) * BackupFormat.sealedChunkByteCount
            self.init(
                "damaged-backup",
                "\(file) is damaged or incomplete, somewhere in the 64 KiB after byte \(place).",
                hint: "Use another copy of it. Nothing was changed.")
        }
    }

    /// The message for a backup that opens and is not valid.
    init(_ fault: BackupFault, file: String) {
        let hint = "Make a new backup where the node still runs. Nothing was changed."
        switch fault {
        case .malformed(.unknownVersion(_)):
            self.init(
                "newer", "\(file) was written by another version of Parley.",
                hint: "Use that version of Parley.")
        case .malformed, .outOfOrder:
            self.init("bad-backup", "\(file) is not a valid backup.", hint: hint)
        case .unproven(let what):
            self.init("bad-backup", "\(file) is not valid: \(what) cannot be verified.", hint: hint)
        case .anotherPerson:
            self.init("another-person", "\(file) is the backup of another person.")
        }
    }

    /// The message for an invalid recovery code.
    init(_ rejection: RecoveryCodeRejection) {
        switch rejection {
        case .strangeCharacter(let place):
            self.init(
                "bad-code", "Character \(place + 1) of the recovery code is one that no code has.",
                hint: "A code has digits and letters, in fourteen groups of four.")
        case .wrongLength(let count):
            self.init(
                "bad-code", "A recovery code has 56 characters; this one has \(count).",
                hint: "A code has digits and letters, in fourteen groups of four.")
        case .mistyped:
            self.init(
                "bad-code", "That is not a recovery code: a character is mistyped.",
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
