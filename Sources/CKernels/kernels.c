#include "kernels.h"
#include <math.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#define FOR_AVX2 __attribute__((target("avx2,fma,popcnt")))
#define FOR_AVX512 __attribute__((target("avx2,fma,popcnt,avx512f,avx512bw,avx512vl,avx512dq")))
#define FOR_VNNI                                                                               \
    __attribute__((target("avx2,fma,popcnt,avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")))
#endif

#define INLINE static inline __attribute__((always_inline))
typedef float f16 __attribute__((vector_size(64), aligned(4)));

int ck_level(void) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return 0;
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
        !__builtin_cpu_supports("avx512vl") || !__builtin_cpu_supports("avx512dq"))
        return 1;
    return __builtin_cpu_supports("avx512vnni") ? 3 : 2;
#else
    return 0;
#endif
}

// Floats. One body, compiled for each kind: the compiler turns 16 floats into what there is.

INLINE void gemm_tile(const float *a, size_t k, size_t a_stride, const float *w0, const float *w1,
                      const float *bias, float *out, size_t out_stride, const int rows,
                      const int blocks) {
    f16 sum[6][2];
    for (int r = 0; r < rows; r++)
        for (int b = 0; b < blocks; b++)
            sum[r][b] = bias ? *(const f16 *)(bias + 16 * b) : (f16){0};
    for (size_t i = 0; i < k; i++) {
        f16 x0 = *(const f16 *)(w0 + 16 * i);
        f16 x1 = blocks > 1 ? *(const f16 *)(w1 + 16 * i) : x0;
        for (int r = 0; r < rows; r++) {
            float v = a[r * a_stride + i];
            sum[r][0] += v * x0;
            if (blocks > 1) sum[r][1] += v * x1;
        }
    }
    for (int r = 0; r < rows; r++)
        for (int b = 0; b < blocks; b++) *(f16 *)(out + r * out_stride + 16 * b) = sum[r][b];
}

#define TILE(R, B)                                                                             \
    gemm_tile(a + row * a_stride, k, a_stride, w, w + 16 * k, bias ? bias + 16 * block : 0,     \
              out + row * out_stride + 16 * block, out_stride, R, B)

INLINE void gemm_f32(const float *a, size_t m, size_t k, size_t a_stride, const float *packed,
                     size_t n, const float *bias, float *out, size_t out_stride, const int step) {
    size_t blocks = n / 16;
    for (size_t block = 0; block < blocks;) {
        const float *w = packed + block * 16 * k;
        size_t row = 0;
        if (block + 1 < blocks) {
            for (; row + step <= m; row += step) TILE(step, 2);
            for (; row + 2 <= m; row += 2) TILE(2, 2);
            for (; row < m; row++) TILE(1, 2);
            block += 2;
        } else {
            for (; row + step <= m; row += step) TILE(step, 1);
            for (; row < m; row++) TILE(1, 1);
            block += 1;
        }
    }
}

INLINE void gelu(float *x, size_t count) {
    for (size_t i = 0; i < count; i++) {
        // Abramowitz and Stegun 7.1.28: 1 - 1 / (1 + a1 z + … + a6 z^6)^16.
        float z = __builtin_fabsf(x[i]) * 0.70710678f;
        float p = 1 + z * (0.0705230784f +
                           z * (0.0422820123f +
                                z * (0.0092705272f +
                                     z * (0.0001520143f +
                                          z * (0.0002765672f + z * 0.0000430638f)))));
        p = p * p;
        p = p * p;
        p = p * p;
        p = p * p;
        float erf = 1 - 1 / p;
        erf = x[i] < 0 ? -erf : erf;
        x[i] = 0.5f * x[i] * (1 + erf);
    }
}

INLINE void scan_bits(const uint64_t *rows, size_t count, size_t words, const uint64_t *query,
                      uint16_t *out) {
    for (size_t r = 0; r < count; r++, rows += words) {
        int sum = 0;
        for (size_t i = 0; i < words; i++) sum += __builtin_popcountll(rows[i] ^ query[i]);
        out[r] = (uint16_t)sum;
    }
}

// Bytes, without any help: also what other processors run.

static void gemm_i8_plain(const uint8_t *a, const float *a_scales, size_t m, size_t k,
                          const int8_t *packed, const float *w_scales, const int32_t *sums,
                          size_t n, const float *bias, float *out) {
    for (size_t r = 0; r < m; r++)
        for (size_t o = 0; o < n; o++) {
            const int8_t *w = packed + (o / 16) * 16 * k + (o % 16) * 4;
            int32_t sum = 0;
            for (size_t i = 0; i < k; i++) sum += a[r * k + i] * w[(i / 4) * 64 + i % 4];
            out[r * n + o] = (float)(sum - sums[o]) * a_scales[r] * w_scales[o] + bias[o];
        }
}

static void scan_i8_plain(const uint8_t *rows, size_t count, size_t width, const int8_t *query,
                          int32_t *out) {
    for (size_t r = 0; r < count; r++, rows += width) {
        int32_t sum = 0;
        for (size_t i = 0; i < width; i++) sum += (rows[i] - 128) * query[i];
        out[r] = sum;
    }
}

#if defined(__x86_64__)

FOR_AVX2 static void gemm_f32_avx2(const float *a, size_t m, size_t k, size_t s, const float *w,
                                   size_t n, const float *b, float *o, size_t t) {
    gemm_f32(a, m, k, s, w, n, b, o, t, 3);
}
FOR_AVX512 static void gemm_f32_avx512(const float *a, size_t m, size_t k, size_t s,
                                       const float *w, size_t n, const float *b, float *o,
                                       size_t t) {
    gemm_f32(a, m, k, s, w, n, b, o, t, 6);
}
FOR_AVX2 static void gelu_avx2(float *x, size_t count) { gelu(x, count); }
FOR_AVX512 static void gelu_avx512(float *x, size_t count) { gelu(x, count); }
FOR_AVX2 static void scan_bits_avx2(const uint64_t *rows, size_t count, size_t words,
                                    const uint64_t *query, uint16_t *out) {
    // The usual widths are written out, so that the inner loop is unrolled.
    if (words == 6) return scan_bits(rows, count, 6, query, out);
    if (words == 8) return scan_bits(rows, count, 8, query, out);
    scan_bits(rows, count, words, query, out);
}

#define VNNI_ROWS 8
FOR_VNNI static void gemm_i8_vnni(const uint8_t *a, const float *a_scales, size_t m, size_t k,
                                  const int8_t *packed, const float *w_scales,
                                  const int32_t *sums, size_t n, const float *bias, float *out) {
    for (size_t block = 0; block < n / 16; block++) {
        const int8_t *w = packed + block * 16 * k;
        __m512i off = _mm512_loadu_si512(sums + 16 * block);
        __m512 scale = _mm512_loadu_ps(w_scales + 16 * block);
        __m512 start = _mm512_loadu_ps(bias + 16 * block);
        for (size_t row = 0; row < m; row += VNNI_ROWS) {
            size_t rows = m - row < VNNI_ROWS ? m - row : VNNI_ROWS;
            const uint8_t *p[VNNI_ROWS];
            // Rows beyond the end are the last one again; nothing of them is kept.
            for (size_t r = 0; r < VNNI_ROWS; r++) p[r] = a + (row + (r < rows ? r : 0)) * k;
            __m512i sum[VNNI_ROWS];
            for (int r = 0; r < VNNI_ROWS; r++) sum[r] = _mm512_setzero_si512();
            for (size_t i = 0; i < k; i += 4) {
                __m512i x = _mm512_loadu_si512(w + 16 * i);
                for (int r = 0; r < VNNI_ROWS; r++) {
                    int32_t v;
                    memcpy(&v, p[r] + i, 4);
                    sum[r] = _mm512_dpbusd_epi32(sum[r], _mm512_set1_epi32(v), x);
                }
            }
            for (size_t r = 0; r < rows; r++) {
                __m512 f = _mm512_cvtepi32_ps(_mm512_sub_epi32(sum[r], off));
                f = _mm512_mul_ps(f, _mm512_set1_ps(a_scales[row + r]));
                _mm512_storeu_ps(out + (row + r) * n + 16 * block,
                                 _mm512_fmadd_ps(f, scale, start));
            }
        }
    }
}

FOR_AVX2 static void gemm_i8_avx2(const uint8_t *a, const float *a_scales, size_t m, size_t k,
                                  const int8_t *packed, const float *w_scales,
                                  const int32_t *sums, size_t n, const float *bias, float *out) {
    for (size_t block = 0; block < n / 16; block++) {
        const int8_t *w = packed + block * 16 * k;
        for (size_t row = 0; row < m; row++) {
            __m256i sum[4];
            for (int q = 0; q < 4; q++) sum[q] = _mm256_setzero_si256();
            for (size_t i = 0; i < k; i += 4) {
                int32_t v;
                memcpy(&v, a + row * k + i, 4);
                // Each product has 16 bits: two of them in 16 bits could overflow, in 32 never.
                __m256i x = _mm256_cvtepu8_epi16(_mm_set1_epi32(v));
                for (int q = 0; q < 4; q++) {
                    __m128i y = _mm_loadu_si128((const __m128i *)(w + 16 * i + 16 * q));
                    sum[q] = _mm256_add_epi32(
                        sum[q], _mm256_madd_epi16(x, _mm256_cvtepi8_epi16(y)));
                }
            }
            int32_t pairs[32];
            for (int q = 0; q < 4; q++) _mm256_storeu_si256((__m256i *)(pairs + 8 * q), sum[q]);
            for (size_t o = 0; o < 16; o++) {
                size_t at = 16 * block + o;
                int32_t total = pairs[2 * o] + pairs[2 * o + 1] - sums[at];
                out[row * n + at] = (float)total * a_scales[row] * w_scales[at] + bias[at];
            }
        }
    }
}

FOR_VNNI static void scan_i8_vnni(const uint8_t *rows, size_t count, size_t width,
                                  const int8_t *query, int32_t *out) {
    int32_t bias = 0;
    for (size_t i = 0; i < width; i++) bias += 128 * query[i];
    for (size_t r = 0; r < count; r++, rows += width) {
        __m512i sum = _mm512_setzero_si512();
        for (size_t i = 0; i < width; i += 64)
            sum = _mm512_dpbusd_epi32(sum, _mm512_loadu_si512(rows + i),
                                      _mm512_loadu_si512(query + i));
        out[r] = _mm512_reduce_add_epi32(sum) - bias;
    }
}

FOR_AVX2 static void scan_i8_avx2(const uint8_t *rows, size_t count, size_t width,
                                  const int8_t *query, int32_t *out) {
    int32_t bias = 0;
    for (size_t i = 0; i < width; i++) bias += 128 * query[i];
    for (size_t r = 0; r < count; r++, rows += width) {
        __m256i sum = _mm256_setzero_si256();
        for (size_t i = 0; i < width; i += 16) {
            __m256i x = _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)(rows + i)));
            __m256i y = _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(query + i)));
            sum = _mm256_add_epi32(sum, _mm256_madd_epi16(x, y));
        }
        int32_t parts[8];
        _mm256_storeu_si256((__m256i *)parts, sum);
        int32_t total = 0;
        for (int i = 0; i < 8; i++) total += parts[i];
        out[r] = total - bias;
    }
}

#endif

// What the caller's level allows.

void ck_gemm_f32(int level, const float *a, size_t m, size_t k, size_t a_stride,
                 const float *packed, size_t n, const float *bias, float *out,
                 size_t out_stride) {
#if defined(__x86_64__)
    if (level >= 2) return gemm_f32_avx512(a, m, k, a_stride, packed, n, bias, out, out_stride);
    if (level == 1) return gemm_f32_avx2(a, m, k, a_stride, packed, n, bias, out, out_stride);
#endif
    gemm_f32(a, m, k, a_stride, packed, n, bias, out, out_stride, 3);
}

void ck_quantize(const float *a, size_t m, size_t k, uint8_t *bytes, float *scales) {
    for (size_t r = 0; r < m; r++, a += k, bytes += k) {
        float most = 0;
        for (size_t i = 0; i < k; i++) {
            float v = __builtin_fabsf(a[i]);
            most = v > most ? v : most;
        }
        float scale = most > 0 ? most / 127 : 1;
        float factor = 1 / scale;
        scales[r] = scale;
        // Plus a half, cut off, is rounding: nothing here is below zero.
        for (size_t i = 0; i < k; i++) bytes[i] = (uint8_t)(a[i] * factor + 128.5f);
    }
}

void ck_gemm_i8(int level, const uint8_t *a, const float *a_scales, size_t m, size_t k,
                const int8_t *packed, const float *w_scales, const int32_t *sums, size_t n,
                const float *bias, float *out) {
#if defined(__x86_64__)
    if (level >= 3)
        return gemm_i8_vnni(a, a_scales, m, k, packed, w_scales, sums, n, bias, out);
    if (level >= 1)
        return gemm_i8_avx2(a, a_scales, m, k, packed, w_scales, sums, n, bias, out);
#endif
    gemm_i8_plain(a, a_scales, m, k, packed, w_scales, sums, n, bias, out);
}

void ck_gelu(int level, float *x, size_t count) {
#if defined(__x86_64__)
    if (level >= 2) return gelu_avx512(x, count);
    if (level == 1) return gelu_avx2(x, count);
#endif
    gelu(x, count);
}

void ck_scan_i8(int level, const uint8_t *rows, size_t count, size_t width, const int8_t *query,
                int32_t *out) {
#if defined(__x86_64__)
    if (level >= 3) return scan_i8_vnni(rows, count, width, query, out);
    if (level >= 1) return scan_i8_avx2(rows, count, width, query, out);
#endif
    scan_i8_plain(rows, count, width, query, out);
}

void ck_scan_bits(int level, const uint64_t *rows, size_t count, size_t words,
                  const uint64_t *query, uint16_t *out) {
#if defined(__x86_64__)
    if (level >= 1) return scan_bits_avx2(rows, count, words, query, out);
#endif
    scan_bits(rows, count, words, query, out);
}
