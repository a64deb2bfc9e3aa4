import ParleyPayloads
import ParleyLedger
public import ParleyWire

extension EntryField {
    /// That a message brings files: about its place. Stores have indexes of this number.
    public static let files = EntryField(rawValue: 80)
    /// Records that a message names a sealed file, whose short name is the element. Stores have an
    /// index on it.
    public static let blob = EntryField(rawValue: 81)
}

/// A file in a message.
///
/// Its name, type and look are its sender's claim: nothing is decided by them.
/// Source: `Protocol/13-files.md`, "In messages".
public struct Attachment: Equatable, Sendable {
    /// Where the file is.
    public enum Content: Equatable, Sendable {
        /// In the message.
        case inline([UInt8])
        /// Sealed, under this name, with the key that opens it.
        case blob(BlobID, key: [UInt8])
    }

    /// The preview picture and the waveform.
    public struct Look: Equatable, Sendable {
        /// A small picture: JPEG, PNG or WebP; empty for none.
        public var preview: [UInt8] = []
        /// For a picture, in pixels; 0 if it is not known.
        public var width: UInt32 = 0
        /// For a picture, in pixels; 0 if it is not known.
        public var height: UInt32 = 0
        /// In milliseconds; 0 for what neither sounds nor moves.
        public var duration: UInt32 = 0
        /// How loud it is in equal parts of its time, 0 to 255 each; empty for none.
        public var waveform: [UInt8] = []
        /// Whether it was spoken for its message.
        public var isVoice = false
        /// The transcript; nil if nobody wrote one.
        public var transcript: String?

        /// Of a file of which nothing is known.
        public init() {}
    }

    /// The name that the sender gives it. Nobody has checked it: a screen sanitises it.
    public var name: String
    /// How many bytes it has.
    public var size: BlobSize
    /// Its type, such as "image/jpeg"; empty if the sender does not say.
    public var type: String
    /// Where it is.
    public var content: Content
    /// How it looks.
    public var look = Look()
    /// The key of the shelf on which its sender puts it for devices that are away; nil if it is on
    /// none.
    public var shelf: DeviceID?

    /// A file with these fields.
    public init(name: String, size: BlobSize, type: String, content: Content, look: Look = Look()) {
        self.name = name
        self.size = size
        self.type = type
        self.content = content
        self.look = look
    }

    /// The sealed file, where it is one.
    public var blob: BlobID? {
        guard case .blob(let blob, _) = content else { return nil }
        return blob
    }

    /// The file that a field holds, or nil where it holds none or breaks a limit.
    init?(_ field: PayloadAttachment) {
        guard field.name.utf8.count <= Limits.fileNameByteCountMax,
            field.type.utf8.count <= Limits.fileTypeByteCountMax,
            field.preview.count <= Limits.previewByteCountMax,
            field.waveform.count <= Limits.waveformByteCountMax,
            let size = BlobSize(exactly: field.size)
        else { return nil }
        if let blob = BlobID(fieldBytes(field.blob)), field.key.count == 32, size > 0 {
            content = .blob(blob, key: fieldBytes(field.key))
        } else {
            guard field.blob.isEmpty, field.content.count == Int(size.value),
                field.content.count <= Limits.inlineFileByteCountMax
            else { return nil }
            content = .inline(fieldBytes(field.content))
        }
        (name, self.size, type) = (field.name, size, field.type)
        look.preview = fieldBytes(field.preview)
        (look.width, look.height) = (field.width, field.height)
        look.duration = field.duration
        look.waveform = fieldBytes(field.waveform)
        look.isVoice = field.voice
        // An invalid key counts as none: the file stays all the same.
        shelf = blob == nil ? nil : DeviceID(fieldBytes(field.shelf))
        // A program that does not know the field shows the file all the same.
        let isTold = (1...Limits.transcriptByteCountMax).contains(field.transcript.utf8.count)
        look.transcript = isTold ? field.transcript : nil
    }

    var payload: PayloadAttachment {
        var field = PayloadAttachment()
        (field.name, field.size, field.type) = (name, size.value, type)
        switch content {
        case .inline(let bytes): field.content = ParleyPayloads.field(bytes)
        case .blob(let blob, let key):
            field.blob = ParleyPayloads.field(blob.bytes)
            field.key = ParleyPayloads.field(key)
            if let shelf { field.shelf = ParleyPayloads.field(shelf.bytes) }
        }
        field.preview = ParleyPayloads.field(look.preview)
        (field.width, field.height) = (look.width, look.height)
        field.duration = look.duration
        field.waveform = ParleyPayloads.field(look.waveform)
        field.voice = look.isVoice
        field.transcript = look.transcript ?? ""
        return field
    }

    /// The files of a message, in their order. One that breaks a limit is left out, and too many are none:
    /// a program that does not know the field shows the text all the same.
    static func all(in message: PayloadText) -> [Attachment] {
        guard message.attachments.count <= Limits.attachmentCountMax else { return [] }
        return message.attachments.compactMap(Attachment.init)
    }
}

/// Notes which messages bring files, and which sealed files they name.
enum FileNotes {
    /// Records the files of a message.
    static func note(
        _ files: [Attachment], in applied: AppliedOperation, at order: OrderKey,
        _ context: MergeContext, in store: some MergeStore
    ) throws(StoreError) -> [ViewChange] {
        guard !files.isEmpty else { return [] }
        let operation = applied.operation
        var entry = Entry(
            space: context.space.number,
            object: .operation(operation.tag, operation.sequence), field: .files,
            operation: applied.number, order: order)
        try store.put(entry)
        entry.field = .blob
        for blob in files.compactMap(\.blob) {
            entry.element = try store.locator(blob.bytes)
            try store.put(entry)
        }
        return [.files(context.space.number, applied.number)]
    }

    /// Drops the records of a deleted message.
    static func forget(
        _ message: OperationNumber, _ object: EntryObject, in space: SpaceNumber,
        store: some MergeStore
    ) throws(StoreError) -> [ViewChange] {
        guard try store.hasEntry(about: object, in: space, field: .files) else { return [] }
        for field in [EntryField.files, .blob] {
            for entry in try store.entries(about: object, in: space, field: field)
            where entry.operation == message {
                try store.remove(entry)
            }
        }
        return [.files(space, message)]
    }
}
