import Foundation

/// Named tensors in one file: `u64 length ‖ JSON ‖ numbers`.
struct SafeTensors {
    private struct Listing: Decodable {
        var dtype: String
        var shape: [Int]
        var data_offsets: [Int]
    }

    private let file: MappedFile
    private let entries: [String: Listing]
    private let start: Int
    private let path: String

    init(_ path: String) throws(ModelError) {
        file = try MappedFile(path)
        self.path = path
        guard file.bytes.count > 8 else { throw .damaged(path) }
        let length = file.bytes.loadUnaligned(as: UInt64.self).littleEndian
        guard length < 1 << 20, Int(length) + 8 <= file.bytes.count else { throw .damaged(path) }
        start = 8 + Int(length)
        do {
            let header = Data(file.bytes[8..<start])
            let all = try JSONDecoder().decode([String: Header].self, from: header)
            entries = all.compactMapValues(\.entry)
        } catch {
            throw .damaged(path)
        }
    }

    /// The tensor of this name, of floats and of this shape.
    func tensor(_ name: String, _ shape: [Int]) throws(ModelError) -> Tensor {
        guard let entry = entries[name], entry.dtype == "F32", entry.shape == shape,
            entry.data_offsets.count == 2
        else { throw .damaged("\(path), \(name)") }
        let offset = start + entry.data_offsets[0]
        let count = shape.reduce(4, *)
        guard entry.data_offsets[0] >= 0, offset + count <= file.bytes.count else {
            throw .damaged("\(path), \(name)")
        }
        return Tensor(file: file, offset: offset, shape: shape)
    }

    /// An entry of the header, or the notes beside them.
    private struct Header: Decodable {
        var entry: Listing?
        init(from decoder: any Decoder) throws {
            do {
                entry = try Listing(from: decoder)
            } catch {
                // Whatever is no tensor is passed over.
                entry = nil
            }
        }
    }
}

/// One array of NumPy: `\x93NUMPY ‖ version ‖ length ‖ header ‖ numbers`.
enum NumPyFile {
    /// The array in a file, of this type (`<f4`, `|u1`) in rows.
    static func tensor(_ path: String, type: String) throws(ModelError) -> Tensor {
        let file = try MappedFile(path)
        let bytes = file.bytes
        guard bytes.count > 12, bytes.prefix(6).elementsEqual([0x93] + Array("NUMPY".utf8)) else {
            throw .damaged(path)
        }
        let isFirst = bytes[6] == 1
        let length =
            isFirst
            ? Int(bytes.loadUnaligned(fromByteOffset: 8, as: UInt16.self).littleEndian)
            : Int(bytes.loadUnaligned(fromByteOffset: 8, as: UInt32.self).littleEndian)
        let start = (isFirst ? 10 : 12) + length
        guard start <= bytes.count else { throw .damaged(path) }
        let header = String(decoding: bytes[(isFirst ? 10 : 12)..<start], as: UTF8.self)
        guard header.contains("'\(type)'"), header.contains("'fortran_order': False"),
            let open = header.range(of: "'shape': ("),
            let close = header.range(of: ")", range: open.upperBound..<header.endIndex)
        else { throw .damaged(path) }
        let shape = header[open.upperBound..<close.lowerBound].split(separator: ",")
            .compactMap { Int($0.trimmingCharacters(in: .whitespaces)) }
        let count = shape.reduce(type == "<f4" ? 4 : 1, *)
        guard count >= 0, start + count <= bytes.count else { throw .damaged(path) }
        return Tensor(file: file, offset: start, shape: shape)
    }
}
