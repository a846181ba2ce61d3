// Plain C++ that runs everywhere; the compiler may vectorise it for the platform's baseline.
#include <cfloat>
#include <cstring>

#include "isa.h"
#include "smartrag_kernels.h"

namespace sr {
namespace {

// Where float arithmetic keeps extra precision (x87), scores could differ from the reference in
// the last bit; such a platform does without compiled kernels.
static_assert(FLT_EVAL_METHOD == 0, "float arithmetic must round to float");

bool runs_here_serial() { return true; }

int32_t dot_i8_serial(const int8_t* a, const int8_t* b, size_t dim) {
    int32_t sum = 0;
    // A product of codes fits int16, and saying so lets the compiler multiply in narrow lanes.
    for (size_t i = 0; i < dim; ++i) sum += static_cast<int16_t>(a[i] * b[i]);
    return sum;
}

void scan_i8_serial(const int8_t* codes, const float* scales, size_t n_rows, size_t dim,
                    const int8_t* query, float query_scale, float* scores) {
    for (size_t row = 0; row < n_rows; ++row) {
        const int32_t dot = dot_i8_serial(codes + row * dim, query, dim);
        scores[row] = static_cast<float>(dot) * (scales[row] * query_scale);
    }
}

// The largest magnitude among `dim` components; not a number if one of them is none.
float largest_f32_serial(const float* x, size_t dim) {
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
float nearest_f32_serial(float x) {
    constexpr float shift = 12582912.0f;  // 1.5 * 2^23
    return (x + shift) - shift;
}

int quantize_i8_serial(const float* rows, size_t n_rows, size_t dim, int8_t* codes,
                       float* scales) {
    for (size_t row = 0; row < n_rows; ++row, rows += dim, codes += dim) {
        const float largest = largest_f32_serial(rows, dim);
        if (!(largest <= SR_MAX_COMPONENT)) return SR_ERROR_VALUE;  // so written, NaN fails it too
        const float scale = largest / 127.0f;
        const float divisor = scale > 0.0f ? scale : 1.0f;  // then every component rounds to 0
        scales[row] = scale;
        for (size_t i = 0; i < dim; ++i) {
            // A division, not a multiplication by the reciprocal: that would round differently.
            float code = nearest_f32_serial(rows[i] / divisor);
            // Only a subnormal scale, which is itself coarsely rounded, can lead beyond 127.
            code = code > 127.0f ? 127.0f : code;
            code = code < -127.0f ? -127.0f : code;
            codes[i] = static_cast<int8_t>(code);
        }
    }
    return SR_OK;
}

}  // namespace

const Isa serial = {"serial", runs_here_serial, quantize_i8_serial, scan_i8_serial};

}  // namespace sr
