// x86-64 with AVX-512 BW and VNNI: servers since Ice Lake, Zen 4.
#include <immintrin.h>

#include "../isa.h"
#include "prefetch.h"

namespace sr {
namespace {

#ifndef TARGET  // the test in emulation leaves it empty
#define TARGET [[gnu::target("avx512f,avx512bw,avx512vnni")]]
#endif

constexpr size_t LANES = 64;

// acc + |q| * sign(row, q), summed over groups of four codes. The instruction multiplies unsigned by
// signed bytes and sums exactly, so the sign of the query moves over to the row.
TARGET inline __m512i add_products_i8x64(__m512i acc_i32x16, __mmask64 query_negative,
                                         __m512i magnitude_u8x64, __m512i row_i8x64) {
    const __m512i signed_i8x64 =
        _mm512_mask_sub_epi8(row_i8x64, query_negative, _mm512_setzero_si512(), row_i8x64);
    return _mm512_dpbusd_epi32(acc_i32x16, magnitude_u8x64, signed_i8x64);
}

TARGET inline int32_t sum_i32x16(__m512i lanes_i32x16) {
    alignas(64) int32_t lanes[16];
    _mm512_store_si512(lanes, lanes_i32x16);
    int32_t sum = 0;
    for (const int32_t lane : lanes) sum += lane;
    return sum;
}

// Four rows share each load of the query; a masked load fills up with zeros behind the last code.
TARGET void dots_i8_avx512vnni(const int8_t* rows, size_t n_rows, size_t dim,
                               const int8_t* queries, size_t n_queries, int32_t* dots,
                               size_t stride) {
    for (size_t q = 0; q < n_queries; ++q, queries += dim, dots += stride) {
        for (size_t row = 0; row < n_rows; row += 4) {
            const Rows<4> here(rows, row, n_rows, dim);

            __m512i acc_i32x16[4] = {_mm512_setzero_si512(), _mm512_setzero_si512(),
                                     _mm512_setzero_si512(), _mm512_setzero_si512()};
            for (size_t i = 0; i < dim; i += LANES) {
                // A step takes 256 bytes: four lines.
                for (size_t line = 0; line < 4; ++line) {
                    prefetch(here.at[0], 4 * i + AHEAD + 64 * line);
                }
                const __mmask64 inside =
                    dim - i < LANES ? (uint64_t{1} << (dim - i)) - 1 : ~uint64_t{0};
                const __m512i query_i8x64 = _mm512_maskz_loadu_epi8(inside, queries + i);
                const __mmask64 negative = _mm512_movepi8_mask(query_i8x64);
                const __m512i magnitude_u8x64 = _mm512_abs_epi8(query_i8x64);
                for (size_t r = 0; r < 4; ++r) {
                    acc_i32x16[r] =
                        add_products_i8x64(acc_i32x16[r], negative, magnitude_u8x64,
                                           _mm512_maskz_loadu_epi8(inside, here.at[r] + i));
                }
            }
            for (size_t r = 0; r < here.n; ++r) dots[row + r] = sum_i32x16(acc_i32x16[r]);
        }
    }
}

}  // namespace

const Isa avx512vnni = {"avx512vnni", dots_i8_avx512vnni, differing_u1_popcnt};

}  // namespace sr
