// The few loops in which a search by meaning spends its time, each for several kinds of processor.
#pragma once
#include <stddef.h>
#include <stdint.h>

/// What this processor has: 0 nothing special, 1 AVX2 and FMA, 2 AVX-512 as well, 3 VNNI as well.
int ck_level(void);

/// out[m][n] = a[m][k] · w + bias, where w is packed as [n / 16][k][16] and n is a multiple of 16.
void ck_gemm_f32(int level, const float *a, size_t m, size_t k, size_t a_stride,
                 const float *packed, size_t n, const float *bias, float *out, size_t out_stride);

/// Rows of floats as bytes around 128, with the scale of each.
void ck_quantize(const float *a, size_t m, size_t k, uint8_t *bytes, float *scales);

/// out[m][n] = a[m][k] · w + bias for bytes of ck_quantize. w is packed as [n / 16][k / 4][16][4];
/// `sums` are 128 times the sums of its columns.
void ck_gemm_i8(int level, const uint8_t *a, const float *a_scales, size_t m, size_t k,
                const int8_t *packed, const float *w_scales, const int32_t *sums, size_t n,
                const float *bias, float *out);

/// x = gelu(x), by a rational erf that is exact to 1.5e-7.
void ck_gelu(int level, float *x, size_t count);

/// The dot product of each row with the query. Rows are int8 plus 128; width is a multiple of 64.
void ck_scan_i8(int level, const uint8_t *rows, size_t count, size_t width, const int8_t *query,
                int32_t *out);

/// In how many bits each row of `words` numbers differs from the query.
void ck_scan_bits(int level, const uint64_t *rows, size_t count, size_t words,
                  const uint64_t *query, uint16_t *out);

/// SHA-256, fed in parts.
typedef struct {
    uint32_t state[8];
    uint64_t count;
    uint8_t block[64];
} ck_sha256_state;
void ck_sha256_init(ck_sha256_state *state);
void ck_sha256_update(ck_sha256_state *state, const uint8_t *bytes, size_t count);
void ck_sha256_final(ck_sha256_state *state, uint8_t digest[32]);
