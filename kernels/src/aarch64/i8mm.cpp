// 64-bit ARM with SMMLA (armv8.6-a, many chips since 2021): two queries against two rows at once.
#include <arm_neon.h>

#include "../isa.h"

namespace sr {
namespace {

#define TARGET [[gnu::target("arch=armv8.2-a+dotprod+i8mm")]]

constexpr size_t LANES = 16;

// The same eight codes of two vectors, one behind the other: an operand of the instruction.
struct Pair {
    int8x16_t low;   // codes 0 .. 7 of both
    int8x16_t high;  // codes 8 .. 15 of both
};

TARGET inline Pair load_pair_i8x16(const int8_t* first, const int8_t* second) {
    const int64x2_t a_i64x2 = vreinterpretq_s64_s8(vld1q_s8(first));
    const int64x2_t b_i64x2 = vreinterpretq_s64_s8(vld1q_s8(second));
    return {vreinterpretq_s8_s64(vzip1q_s64(a_i64x2, b_i64x2)),
            vreinterpretq_s8_s64(vzip2q_s64(a_i64x2, b_i64x2))};
}

// Two queries against four rows at a time; the lanes of an accumulator are query 0 with row 0 and
// row 1, then query 1 with both.
TARGET void dots_of_two_i8_i8mm(const int8_t* rows, size_t n_rows, size_t dim,
                                const int8_t* queries, int32_t* dots, size_t stride) {
    const size_t whole = dim - dim % LANES;
    for (size_t row = 0; row < n_rows; row += 4) {
        const Rows<4> here(rows, row, n_rows, dim);

        int32x4_t acc_i32x4[2] = {vdupq_n_s32(0), vdupq_n_s32(0)};
        for (size_t i = 0; i < whole; i += LANES) {
            const Pair of_queries = load_pair_i8x16(queries + i, queries + dim + i);
            for (size_t pair = 0; pair < 2; ++pair) {
                const Pair of_rows = load_pair_i8x16(here.at[2 * pair] + i, here.at[2 * pair + 1] + i);
                acc_i32x4[pair] = vmmlaq_s32(acc_i32x4[pair], of_queries.low, of_rows.low);
                acc_i32x4[pair] = vmmlaq_s32(acc_i32x4[pair], of_queries.high, of_rows.high);
            }
        }
        int32_t sums[2][4];
        vst1q_s32(sums[0], acc_i32x4[0]);
        vst1q_s32(sums[1], acc_i32x4[1]);
        for (size_t r = 0; r < here.n; ++r) {
            for (size_t q = 0; q < 2; ++q) {
                dots[q * stride + row + r] = sums[r / 2][2 * q + r % 2] +
                                             tail_dot_i8(here.at[r], queries + q * dim, whole, dim);
            }
        }
    }
}

// The last of an odd number of queries has no partner, and SDOT serves it better.
void dots_i8_i8mm(const int8_t* rows, size_t n_rows, size_t dim, const int8_t* queries,
                  size_t n_queries, int32_t* dots, size_t stride) {
    size_t q = 0;
    for (; q + 2 <= n_queries; q += 2) {
        dots_of_two_i8_i8mm(rows, n_rows, dim, queries + q * dim, dots + q * stride, stride);
    }
    dotprod.dots_i8(rows, n_rows, dim, queries + q * dim, n_queries - q, dots + q * stride, stride);
}

}  // namespace

const Isa i8mm = {"i8mm", dots_i8_i8mm, differing_u1_neon};

}  // namespace sr
