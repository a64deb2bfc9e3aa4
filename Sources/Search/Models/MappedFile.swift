import Glibc

/// Why a model cannot be used.
public enum ModelError: Error, Equatable, Sendable, CustomStringConvertible {
    /// A file is not there, or cannot be read.
    case missing(String)
    /// A file is not what it has to be.
    case damaged(String)

    /// What is the matter, in a phrase.
    public var description: String {
        switch self {
        case .missing(let path): "\(path) is missing"
        case .damaged(let path): "\(path) was changed since it was installed"
        }
    }
}

/// A file in the address space: pages are read when they are touched, and given back under need.
///
/// Safe to share: nobody writes to it, and the file is mapped for as long as this lives.
final class MappedFile: @unchecked Sendable {
    let bytes: UnsafeRawBufferPointer

    init(_ path: String) throws(ModelError) {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw .missing(path) }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_size > 0 else { throw .damaged(path) }
        let count = Int(status.st_size)
        guard let start = mmap(nil, count, PROT_READ, MAP_PRIVATE, file, 0), start != MAP_FAILED
        else { throw .missing(path) }
        bytes = UnsafeRawBufferPointer(start: start, count: count)
    }

    deinit { munmap(UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count) }
}

/// Numbers of a model in a mapped file.
struct Tensor: Sendable {
    let file: MappedFile
    /// Where they begin, in bytes.
    let offset: Int
    let shape: [Int]

    var count: Int { shape.reduce(1, *) }

    /// The numbers as a copy: a file may have them at any address.
    func floats() -> [Float] {
        [Float](unsafeUninitializedCapacity: count) { buffer, initialized in
            let source = UnsafeRawBufferPointer(rebasing: file.bytes[offset..<(offset + 4 * count)])
            UnsafeMutableRawBufferPointer(buffer).copyMemory(from: source)
            initialized = count
        }
    }

    /// Some of its bytes.
    func bytes(_ range: Range<Int>) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(
            rebasing: file.bytes[(offset + range.lowerBound)..<(offset + range.upperBound)])
    }
}
