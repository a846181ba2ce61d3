// sr_quantize_i8 and sr_sketch_u1 against their definitions in smartrag_kernels.h.
#include <algorithm>
#include <cmath>
#include <limits>

#include "codes.h"
#include "exact.h"
#include "exactness.h"
#include "random.h"

namespace test {
namespace {

// By turns: anything, zeros of both signs, what rounds from the middle between two codes, subnormal
// numbers whose scale is coarse or underflows, and the largest there are.
void fill(float* row, size_t dim, size_t turn, Random& random) {
    constexpr float ZEROS[] = {0.0f, -0.0f};
    constexpr float ODD_HALVES[] = {254.0f, 253.0f, -1.0f, 1.0f, 3.0f, 5.0f, -251.0f};
    constexpr float SUBNORMAL[] = {1e-42f, -1e-42f, 9e-43f, 0.0f};
    constexpr float UNDERFLOWING[] = {1e-44f, -1e-44f, 0.0f};
    constexpr float LARGEST[] = {SR_MAX_COMPONENT, -SR_MAX_COMPONENT, 1.0f};
    const float magnitude = std::pow(10.0f, static_cast<float>(random.below(60)) - 45.0f);
    for (size_t i = 0; i < dim; ++i) {
        switch (turn % 6) {
            case 0: row[i] = random.within_one() * magnitude; break;
            case 1: row[i] = random.one_of(ZEROS); break;
            case 2: row[i] = random.one_of(ODD_HALVES); break;
            case 3: row[i] = random.one_of(SUBNORMAL); break;
            case 4: row[i] = random.one_of(UNDERFLOWING); break;
            default: row[i] = random.one_of(LARGEST);
        }
    }
}

float plain_scale(const float* row, size_t dim) {
    float largest = 0.0f;
    for (size_t i = 0; i < dim; ++i) largest = std::max(largest, std::fabs(row[i]));
    return largest / 127.0f;
}

int8_t plain_code(float component, float scale) {
    if (scale == 0.0f) return 0;
    const float nearest = std::nearbyint(component / scale);  // ties to even, unless told otherwise
    return static_cast<int8_t>(std::min(std::max(nearest, -127.0f), 127.0f));
}

void check_values(const Exact<float>& rows, size_t n_rows, size_t dim, const Isas& isas) {
    Exact<float> expected_scales(n_rows);
    Exact<int8_t> expected_codes(n_rows * dim);
    for (size_t row = 0; row < n_rows; ++row) {
        const float scale = plain_scale(rows.data() + row * dim, dim);
        expected_scales[row] = scale;
        for (size_t i = row * dim; i < (row + 1) * dim; ++i) {
            expected_codes[i] = plain_code(rows[i], scale);
        }
    }
    for (const char* name : isas) {
        use(name);
        Exact<int8_t> codes(n_rows * dim);
        Exact<float> scales(n_rows);
        const int code = sr_quantize_i8(rows.data(), n_rows, dim, codes.data(), scales.data());
        CHECK(code == SR_OK, "sr_quantize_i8 returned %d, rows %zu, dim %zu", code, n_rows, dim);
        CHECK(same_bits(scales.data(), expected_scales.data(), n_rows),
              "scales of sr_quantize_i8, rows %zu, dim %zu", n_rows, dim);
        CHECK(same_bits(codes.data(), expected_codes.data(), n_rows * dim),
              "codes of sr_quantize_i8, rows %zu, dim %zu", n_rows, dim);
    }
}

// One component that cannot be stored, anywhere, is reported.
void check_refusal(Exact<float>& rows, size_t n_rows, size_t dim, const Isas& isas,
                   Random& random) {
    const float infinity = std::numeric_limits<float>::infinity();
    const float too_large = std::nextafter(SR_MAX_COMPONENT, infinity);
    const float refused[] = {std::nanf(""), -std::nanf(""), infinity,
                             -infinity,     too_large,      -too_large};
    float& victim = rows[random.below(n_rows * dim)];
    victim = random.one_of(refused);
    for (const char* name : isas) {
        use(name);
        Exact<int8_t> codes(n_rows * dim);
        Exact<float> scales(n_rows);
        const int code = sr_quantize_i8(rows.data(), n_rows, dim, codes.data(), scales.data());
        CHECK(code == SR_ERROR_VALUE, "sr_quantize_i8 returned %d for %g, rows %zu, dim %zu", code,
              static_cast<double>(victim), n_rows, dim);
    }
}

// A centre with codes that equal those of a row, which are not above it.
void fill_centre(Exact<int8_t>& centre, const Codes& rows, Random& random) {
    for (size_t i = 0; i < rows.dim; ++i) {
        centre[i] = static_cast<int8_t>(static_cast<int>(random.below(255)) - 127);
        if (rows.n > 0 && random.below(2) == 0) centre[i] = rows.vector(random.below(rows.n))[i];
    }
}

void check_sketches(size_t n_rows, size_t dim, const Isas& isas, Random& random) {
    const Codes rows(n_rows, dim, random);
    Exact<int8_t> centre(dim);
    fill_centre(centre, rows, random);

    const size_t n_words = SR_SKETCH_WORDS(dim);
    Exact<uint64_t> expected(n_rows * n_words);
    std::fill(expected.begin(), expected.end(), 0);
    for (size_t row = 0; row < n_rows; ++row) {
        for (size_t i = 0; i < dim; ++i) {
            const uint64_t above = rows.vector(row)[i] > centre[i] ? 1 : 0;
            expected[row * n_words + i / 64] |= above << (i % 64);
        }
    }
    for (const char* name : isas) {
        use(name);
        Exact<uint64_t> sketches(n_rows * n_words);
        const int code =
            sr_sketch_u1(rows.codes.data(), n_rows, dim, centre.data(), sketches.data());
        CHECK(code == SR_OK, "sr_sketch_u1 returned %d, rows %zu, dim %zu", code, n_rows, dim);
        CHECK(same_bits(sketches.data(), expected.data(), expected.size()),
              "sr_sketch_u1, rows %zu, dim %zu", n_rows, dim);
    }
}

}  // namespace

void check_quantize_i8(const Isas& isas) {
    Random random(1);
    for_each_shape([&](size_t n_rows, size_t dim) {
        Exact<float> rows(n_rows * dim);
        for (size_t i = 0; i < n_rows; ++i) fill(rows.data() + i * dim, dim, i, random);
        check_values(rows, n_rows, dim, isas);
        if (n_rows > 0) check_refusal(rows, n_rows, dim, isas, random);
    });
}

void check_sketch_u1(const Isas& isas) {
    Random random(2);
    for_each_shape([&](size_t n_rows, size_t dim) { check_sketches(n_rows, dim, isas, random); });
}

}  // namespace test
