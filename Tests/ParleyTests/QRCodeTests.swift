import Testing

@testable import Parley

@Suite("QR codes")
struct QRCodeTests {
    /// One hash over all modules, row after row: FNV-1a, 64 bits.
    private func hash(_ code: QRCode) -> UInt64 {
        code.modules.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ ($1 ? 1 : 0)) &* 0x0000_0100_0000_01b3 }
    }

    private func text(_ version: Int) -> String {
        let count = Self.capacities[version - 1] - version % 3
        let bytes = (0..<count).map { UInt8(33 + ($0 * 7 + version) % 90) }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test("of all versions are those that another implementation makes", arguments: 1...40)
    func allVersions(version: Int) throws {
        let code = try #require(QRCode(text(version), mask: version % 8))
        #expect(code.version == version)
        #expect(hash(code) == Self.hashes[version - 1])
    }

    @Test("look like this")
    func picture() throws {
        let code = try #require(QRCode("parley-device:1:QWxs", mask: 3))
        let rows = (0..<code.size).map { row in
            (0..<code.size).map { code.isDark(row, $0) ? "#" : "." }.joined()
        }
        #expect(rows == Self.picture)
    }

    @Test("choose a mask by themselves, and hold up to 2,953 bytes")
    func limits() throws {
        #expect(QRCode.byteCountMax == 2_953)
        #expect(QRCode(String(repeating: "x", count: 2_953))?.version == 40)
        #expect(QRCode(String(repeating: "x", count: 2_954)) == nil)
        let text = "parley-device:1:QWxs"
        let chosen = try #require(QRCode(text))
        #expect((0..<8).contains { QRCode(text, mask: $0) == chosen })
    }

    /// Bytes at level L, by version.
    static let capacities = [
        17, 32, 53, 78, 106, 134, 154, 192, 230, 271, 321, 367, 425, 458, 520, 586, 644, 718, 792,
        858, 929, 1003, 1091, 1171, 1273, 1367, 1465, 1528, 1628, 1732, 1840, 1952, 2068, 2188,
        2303, 2431, 2563, 2699, 2809, 2953,
    ]

    /// Computed with qrcode 8.2 for Python.
    static let hashes: [UInt64] = [
        0xc864_fbcb_1f4c_40e7, 0x2a52_7b70_3af5_0103, 0xaab8_0f69_2862_d415,
        0x4ccf_c1c8_ad81_d0ff, 0x08f2_969e_70d9_8674, 0x7fed_0ed8_9a87_e4a9,
        0x4fca_38fc_ba1c_a205, 0xc87f_0155_940f_e985, 0xa1ce_e90b_c1d3_a22c,
        0xd1d4_1a99_630b_1c3f, 0x6de9_fc22_0027_6057, 0xc958_4ad7_4af8_7513,
        0xd391_bd81_b57d_f773, 0x7a1e_eb7b_15ec_c2e9, 0x96af_ce85_c5e5_3116,
        0x44dc_c08d_cc74_5d5d, 0x4165_afa1_5385_f4c8, 0x0105_098e_9b4d_4a9b,
        0x8a3b_3b63_f03d_ea4d, 0xd9a8_5055_6012_b6ef, 0x4e1c_13b6_5c35_8450,
        0x9f54_ab8a_dacc_0997, 0xaeac_f91d_0a42_aae3, 0x8be1_5259_6187_b227,
        0xfc05_38e4_35b9_4f9c, 0xf01e_60d2_2226_0251, 0xba93_5f01_1076_bc27,
        0xc7be_4fb2_1151_b0c2, 0x1d02_ce9a_458d_c244, 0x56f0_39d2_10f1_fd9e,
        0xaa53_970f_24d7_91f6, 0x9079_9c82_5804_fcbf, 0x402d_d15b_e263_6cba,
        0xc473_8a3c_ebe3_2a19, 0xbf74_9619_edaa_1587, 0x2602_e15c_f504_fb25,
        0x689a_acbe_41c0_78db, 0x82ef_d20c_c170_0bff, 0x62a2_74f8_3d87_9452,
        0xbdd0_47c5_983d_e8e3,
    ]

    /// Drawn by the same.
    static let picture = [
        "#######.##....###.#######",
        "#.....#......#..#.#.....#",
        "#.###.#.#..####.#.#.###.#",
        "#.###.#.##.#.####.#.###.#",
        "#.###.#.####.#..#.#.###.#",
        "#.....#..#..##..#.#.....#",
        "#######.#.#.#.#.#.#######",
        ".........#.#..##.........",
        "####..#.#.....##.#..###.#",
        ".#.###.#.#....#..#.#.#.#.",
        "##.#.####....##.#..##.#..",
        "#.##.#.##..####.#.#..###.",
        ".#....#.##.#...####.###.#",
        "..#....#.###.###.########",
        ".##...##.#..#.#.#.##..##.",
        "#.#.#....#..##...###....#",
        "....#.#.#.##...######.##.",
        "........###.##.##...#####",
        "#######..#.##...#.#.#..##",
        "#.....#.....#...#...##.#.",
        "#.###.#..#.###..######.#.",
        "#.###.#.###.###..##.#####",
        "#.###.#.#.####.#.#####.#.",
        "#.....#.#.............#..",
        "#######.#.#.#.#..#.######",
    ]
}
