// 64-bit ARM with SDOT (armv8.2-a): phones since about 2018.
#include <arm_neon.h>

#include "../isa.h"

namespace sr {
namespace {

#define TARGET [[gnu::target("arch=armv8.2-a+dotprod")]]

constexpr size_t LANES = 16;

// Eight rows share each load of the query: with a latency of three cycles and two issued in each
// (Cortex-A76), fewer than six independent sums would leave the unit waiting.
TARGET void dots_i8_dotprod(const int8_t* rows, size_t n_rows, size_t dim, const int8_t* queries,
                            size_t n_queries, int32_t* dots, size_t stride) {
    const size_t whole = dim - dim % LANES;
    for (size_t q = 0; q < n_queries; ++q, queries += dim, dots += stride) {
        for (size_t row = 0; row < n_rows; row += 8) {
            const Rows<8> here(rows, row, n_rows, dim);

            int32x4_t acc_i32x4[8];
            for (int32x4_t& acc : acc_i32x4) acc = vdupq_n_s32(0);
            for (size_t i = 0; i < whole; i += LANES) {
                const int8x16_t query_i8x16 = vld1q_s8(queries + i);
                for (size_t r = 0; r < 8; ++r) {
                    acc_i32x4[r] = vdotq_s32(acc_i32x4[r], query_i8x16, vld1q_s8(here.at[r] + i));
                }
            }
            for (size_t r = 0; r < here.n; ++r) {
                dots[row + r] = vaddvq_s32(acc_i32x4[r]) + tail_dot_i8(here.at[r], queries, whole, dim);
            }
        }
    }
}

}  // namespace

const Isa dotprod = {"dotprod", dots_i8_dotprod, differing_u1_neon};

}  // namespace sr
