// 64-bit ARM as every such processor has it (armv8-a).
#include <arm_neon.h>

#include "../isa.h"

namespace sr {
namespace {

constexpr size_t LANES = 16;

// acc + products of 16 codes. Two products fit int16: codes lie within +-127, and 2 * 127 * 127 is
// 32258.
inline int32x4_t add_products_i8x16(int32x4_t acc_i32x4, int8x16_t query_i8x16, const int8_t* row) {
    const int8x16_t row_i8x16 = vld1q_s8(row);
    const int16x8_t low_i16x8 = vmull_s8(vget_low_s8(row_i8x16), vget_low_s8(query_i8x16));
    const int16x8_t pairs_i16x8 =
        vmlal_s8(low_i16x8, vget_high_s8(row_i8x16), vget_high_s8(query_i8x16));
    return vpadalq_s16(acc_i32x4, pairs_i16x8);
}

// Four rows share each load of the query.
void dots_i8_neon(const int8_t* rows, size_t n_rows, size_t dim, const int8_t* queries,
                  size_t n_queries, int32_t* dots, size_t stride) {
    const size_t whole = dim - dim % LANES;
    for (size_t q = 0; q < n_queries; ++q, queries += dim, dots += stride) {
        for (size_t row = 0; row < n_rows; row += 4) {
            const Rows<4> here(rows, row, n_rows, dim);

            int32x4_t acc_i32x4[4] = {vdupq_n_s32(0), vdupq_n_s32(0), vdupq_n_s32(0),
                                      vdupq_n_s32(0)};
            for (size_t i = 0; i < whole; i += LANES) {
                const int8x16_t query_i8x16 = vld1q_s8(queries + i);
                for (size_t r = 0; r < 4; ++r) {
                    acc_i32x4[r] = add_products_i8x16(acc_i32x4[r], query_i8x16, here.at[r] + i);
                }
            }
            for (size_t r = 0; r < here.n; ++r) {
                dots[row + r] = vaddvq_s32(acc_i32x4[r]) + tail_dot_i8(here.at[r], queries, whole, dim);
            }
        }
    }
}

}  // namespace

void differing_u1_neon(const uint64_t* rows, size_t n_rows, size_t n_words, const uint64_t* query,
                       int32_t* distances) {
    for (size_t row = 0; row < n_rows; ++row, rows += n_words) {
        uint32x4_t acc_u32x4 = vdupq_n_u32(0);
        size_t i = 0;
        for (; i + 2 <= n_words; i += 2) {
            const uint64x2_t differing_u64x2 = veorq_u64(vld1q_u64(rows + i), vld1q_u64(query + i));
            const uint8x16_t bits_u8x16 = vcntq_u8(vreinterpretq_u8_u64(differing_u64x2));
            acc_u32x4 = vpadalq_u16(acc_u32x4, vpaddlq_u8(bits_u8x16));
        }
        uint32_t distance = vaddvq_u32(acc_u32x4);
        if (i < n_words) distance += vaddv_u8(vcnt_u8(vcreate_u8(rows[i] ^ query[i])));
        distances[row] = static_cast<int32_t>(distance);
    }
}

const Isa neon = {"neon", dots_i8_neon, differing_u1_neon};

}  // namespace sr
