// From floats to int8 codes, and from codes to 1-bit sketches. Every vector passes here once, so
// plain loops that the compiler vectorises are fast enough.
#include <cfloat>
#include <cstring>

#include "smartrag_kernels.h"

namespace {

// Where float arithmetic keeps extra precision (x87), results could differ from the reference in
// the last bit; such a platform does without compiled kernels.
static_assert(FLT_EVAL_METHOD == 0, "float arithmetic must round to float");

// The largest magnitude among `dim` components; not a number if one of them is none.
float largest_magnitude(const float* x, size_t dim) {
    // Without their sign, the bits of floats order as the floats do, with NaN above infinity. As
    // integers they have a maximum that the compiler can vectorise.
    int32_t largest_bits = 0;
    for (size_t i = 0; i < dim; ++i) {
        int32_t bits;
        std::memcpy(&bits, x + i, sizeof bits);
        bits &= 0x7fffffff;
        largest_bits = bits > largest_bits ? bits : largest_bits;
    }
    float largest;
    std::memcpy(&largest, &largest_bits, sizeof largest);
    return largest;
}

// The nearest integer, ties to even, for |x| < 2^22: the sum has no room for a fraction. Unlike
// std::rint this needs no call into libm where the processor's baseline lacks the instruction.
float nearest_integer(float x) {
    constexpr float shift = 12582912.0f;  // 1.5 * 2^23
    return (x + shift) - shift;
}

// Bit i of the result is above[i], which is 0 or 1.
uint64_t packed_bits(const uint8_t above[64]) {
    uint64_t packed = 0;
    for (size_t i = 0; i < 8; ++i) {
        uint64_t eight = 0;
        for (size_t j = 0; j < 8; ++j) eight |= static_cast<uint64_t>(above[8 * i + j]) << (8 * j);
        // The product moves byte j to bit 56 + j; no two of its terms meet, so none carries.
        packed |= ((eight * 0x0102040810204080u) >> 56) << (8 * i);
    }
    return packed;
}

}  // namespace

extern "C" {

int sr_quantize_i8(const float* rows, size_t n_rows, size_t dim, int8_t* codes, float* scales) {
    if (dim < 1 || dim > SR_MAX_DIM) return SR_ERROR_ARGUMENT;
    if (n_rows > 0 && (rows == nullptr || codes == nullptr || scales == nullptr)) {
        return SR_ERROR_ARGUMENT;
    }
    for (size_t row = 0; row < n_rows; ++row, rows += dim, codes += dim) {
        const float largest = largest_magnitude(rows, dim);
        if (!(largest <= SR_MAX_COMPONENT)) return SR_ERROR_VALUE;  // so written, NaN fails it too
        const float scale = largest / 127.0f;
        const float divisor = scale > 0.0f ? scale : 1.0f;  // then every component rounds to 0
        scales[row] = scale;
        for (size_t i = 0; i < dim; ++i) {
            // A division, not a multiplication by the reciprocal: that would round differently.
            float code = nearest_integer(rows[i] / divisor);
            // Only a subnormal scale, which is itself coarsely rounded, can lead beyond 127.
            code = code > 127.0f ? 127.0f : code;
            code = code < -127.0f ? -127.0f : code;
            codes[i] = static_cast<int8_t>(code);
        }
    }
    return SR_OK;
}

int sr_sketch_u1(const int8_t* codes, size_t n_rows, size_t dim, const int8_t* centre,
                 uint64_t* sketches) {
    if (dim < 1 || dim > SR_MAX_DIM || centre == nullptr) return SR_ERROR_ARGUMENT;
    if (n_rows > 0 && (codes == nullptr || sketches == nullptr)) return SR_ERROR_ARGUMENT;
    for (size_t row = 0; row < n_rows; ++row, codes += dim) {
        for (size_t first = 0; first < dim; first += 64) {
            const size_t n_bits = dim - first < 64 ? dim - first : 64;
            uint8_t above[64] = {};
            for (size_t bit = 0; bit < n_bits; ++bit) {
                above[bit] = codes[first + bit] > centre[first + bit];
            }
            *sketches++ = packed_bits(above);
        }
    }
    return SR_OK;
}

}  // extern "C"
