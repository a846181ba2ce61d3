// Plain C++ that runs everywhere; the compiler may vectorise it for the platform's baseline.
#include "isa.h"

namespace sr {
namespace {

int32_t dot_i8_serial(const int8_t* a, const int8_t* b, size_t dim) {
    int32_t sum = 0;
    // A product of codes fits int16, and saying so lets the compiler multiply in narrow lanes.
    for (size_t i = 0; i < dim; ++i) sum += static_cast<int16_t>(a[i] * b[i]);
    return sum;
}

void dots_i8_serial(const int8_t* rows, size_t n_rows, size_t dim, const int8_t* queries,
                    size_t n_queries, int32_t* dots, size_t stride) {
    for (size_t q = 0; q < n_queries; ++q) {
        for (size_t row = 0; row < n_rows; ++row) {
            dots[q * stride + row] = dot_i8_serial(rows + row * dim, queries + q * dim, dim);
        }
    }
}

// Bits that are set, counted in parallel in ever wider fields (Warren, Hacker's Delight, 5-1).
int32_t set_bits_u64_serial(uint64_t word) {
    word -= (word >> 1) & 0x5555555555555555u;
    word = (word & 0x3333333333333333u) + ((word >> 2) & 0x3333333333333333u);
    word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return static_cast<int32_t>((word * 0x0101010101010101u) >> 56);
}

void differing_u1_serial(const uint64_t* rows, size_t n_rows, size_t n_words,
                         const uint64_t* query, int32_t* distances) {
    for (size_t row = 0; row < n_rows; ++row, rows += n_words) {
        int32_t distance = 0;
        for (size_t i = 0; i < n_words; ++i) distance += set_bits_u64_serial(rows[i] ^ query[i]);
        distances[row] = distance;
    }
}

}  // namespace

const Isa serial = {"serial", dots_i8_serial, differing_u1_serial};

}  // namespace sr
