import CSodium

/// A code over bytes that holders of the key can check: HMAC-SHA-256, as in other programs.
///
/// Nothing of our own uses it: labelled hashes do. Source: RFC 2104, FIPS 180-4.
public func hmacSHA256(_ bytes: [UInt8], key: [UInt8]) -> [UInt8] {
    requireSodium()
    var state = crypto_auth_hmacsha256_state()
    crypto_auth_hmacsha256_init(&state, key, key.count)
    crypto_auth_hmacsha256_update(&state, bytes, UInt64(bytes.count))
    var code = [UInt8](repeating: 0, count: Int(crypto_auth_hmacsha256_BYTES))
    crypto_auth_hmacsha256_final(&state, &code)
    return code
}
