// x86-64 with AVX2 and POPCNT: every PC since about 2015.
#include <immintrin.h>

#include "../isa.h"
#include "prefetch.h"

namespace sr {
namespace {

#define TARGET [[gnu::target("avx2,popcnt")]]

constexpr size_t LANES = 32;

// acc + |q| * sign(row, q), summed over groups of four codes. The instruction adds two products in
// int16 and would saturate beyond +-32767; codes within +-127 reach 32258.
TARGET inline __m256i add_products_i8x32(__m256i acc_i32x8, __m256i query_i8x32,
                                         __m256i magnitude_u8x32, const int8_t* row) {
    const __m256i row_i8x32 = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(row));
    const __m256i signed_i8x32 = _mm256_sign_epi8(row_i8x32, query_i8x32);
    const __m256i pairs_i16x16 = _mm256_maddubs_epi16(magnitude_u8x32, signed_i8x32);
    const __m256i sums_i32x8 = _mm256_madd_epi16(pairs_i16x16, _mm256_set1_epi16(1));
    return _mm256_add_epi32(acc_i32x8, sums_i32x8);
}

// The lane sums of four accumulators.
TARGET inline __m128i sums_i32x4(__m256i a, __m256i b, __m256i c, __m256i d) {
    const __m256i abcd = _mm256_hadd_epi32(_mm256_hadd_epi32(a, b), _mm256_hadd_epi32(c, d));
    return _mm_add_epi32(_mm256_castsi256_si128(abcd), _mm256_extracti128_si256(abcd, 1));
}

// Four rows share each load of the query.
TARGET void dots_i8_avx2(const int8_t* rows, size_t n_rows, size_t dim, const int8_t* queries,
                         size_t n_queries, int32_t* dots, size_t stride) {
    const size_t whole = dim - dim % LANES;
    for (size_t q = 0; q < n_queries; ++q, queries += dim, dots += stride) {
        for (size_t row = 0; row < n_rows; row += 4) {
            const Rows<4> here(rows, row, n_rows, dim);

            __m256i acc_i32x8[4] = {_mm256_setzero_si256(), _mm256_setzero_si256(),
                                    _mm256_setzero_si256(), _mm256_setzero_si256()};
            for (size_t i = 0; i < whole; i += LANES) {
                const __m256i query_i8x32 =
                    _mm256_loadu_si256(reinterpret_cast<const __m256i*>(queries + i));
                const __m256i magnitude_u8x32 = _mm256_abs_epi8(query_i8x32);
                prefetch(here.at[0], 4 * i + AHEAD);  // a step takes 128 bytes: two lines
                prefetch(here.at[0], 4 * i + AHEAD + 64);
                for (size_t r = 0; r < 4; ++r) {
                    acc_i32x8[r] = add_products_i8x32(acc_i32x8[r], query_i8x32, magnitude_u8x32,
                                                      here.at[r] + i);
                }
            }
            alignas(16) int32_t sums[4];
            _mm_store_si128(reinterpret_cast<__m128i*>(sums),
                            sums_i32x4(acc_i32x8[0], acc_i32x8[1], acc_i32x8[2], acc_i32x8[3]));
            for (size_t r = 0; r < here.n; ++r) {
                dots[row + r] = sums[r] + tail_dot_i8(here.at[r], queries, whole, dim);
            }
        }
    }
}

TARGET inline void count_differing(const uint64_t* rows, size_t n_rows, size_t n_words,
                                   const uint64_t* query, int32_t* distances) {
    for (size_t row = 0; row < n_rows; ++row, rows += n_words) {
        prefetch(rows, AHEAD);
        int64_t distance = 0;
        for (size_t i = 0; i < n_words; ++i) distance += _mm_popcnt_u64(rows[i] ^ query[i]);
        distances[row] = static_cast<int32_t>(distance);
    }
}

}  // namespace

// With the number of words known, the loop over them is unrolled and the query stays in registers:
// twice as fast, and done for the usual 384 and 768 dimensions.
TARGET void differing_u1_popcnt(const uint64_t* rows, size_t n_rows, size_t n_words,
                                const uint64_t* query, int32_t* distances) {
    switch (n_words) {
        case 6: return count_differing(rows, n_rows, 6, query, distances);
        case 12: return count_differing(rows, n_rows, 12, query, distances);
        default: return count_differing(rows, n_rows, n_words, query, distances);
    }
}

const Isa avx2 = {"avx2", dots_i8_avx2, differing_u1_popcnt};

}  // namespace sr
