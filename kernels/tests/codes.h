// Coded vectors that are hard on a kernel, and the sizes at and around all widths it works in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "exact.h"
#include "random.h"

namespace test {

constexpr size_t DIMS[] = {1,  2,  3,  5,  7,  15,  16,  17,  31,  33,
                           63, 64, 65, 97, 127, 129, 384, 768, 1024};
constexpr size_t ROW_COUNTS[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 63, 64, 65, 255, 256, 257, 600};
constexpr size_t QUERY_COUNTS[] = {0, 1, 2, 3, 5, 31, 32, 33, 65};

// Every dimension with every number of rows, but not many rows of many dimensions: what can go
// wrong there does so with many of either, and an emulator takes long over them.
template <typename CheckShape>
void for_each_shape(CheckShape check_shape) {
    for (const size_t dim : DIMS) {
        for (const size_t n_rows : ROW_COUNTS) {
            if (n_rows * dim <= 70000) check_shape(n_rows, dim);
        }
    }
}

// So few scales that scores tie, with the largest there is and one whose square is subnormal.
constexpr float SCALES[] = {0.0f, 0.5f, 0.007f, 1e14f, 1e-20f};

struct Codes {
    Codes(size_t n_vectors, size_t dimensions, Random& random)
        : n(n_vectors), dim(dimensions), codes(n * dim), scales(n) {
        for (size_t i = 0; i < n; ++i) {
            fill(i, random);
            scales[i] = random.one_of(SCALES);
            if (i % 5 == 3) copy(i, random.below(i));
        }
    }

    const int8_t* vector(size_t i) const { return codes.data() + i * dim; }

    size_t n;
    size_t dim;
    Exact<int8_t> codes;
    Exact<float> scales;

private:
    // By turns the largest codes, the smallest, both mixed, and all there are.
    void fill(size_t i, Random& random) {
        int8_t* vector = codes.data() + i * dim;
        for (size_t j = 0; j < dim; ++j) {
            switch (i % 5) {
                case 0: vector[j] = 127; break;
                case 1: vector[j] = -127; break;
                case 2: vector[j] = random.below(2) == 0 ? 127 : -127; break;
                default: vector[j] = static_cast<int8_t>(static_cast<int>(random.below(255)) - 127);
            }
        }
    }

    void copy(size_t to, size_t from) {
        std::memcpy(codes.data() + to * dim, vector(from), dim);
        scales[to] = scales[from];
    }
};

// In 64 bits, where nothing overflows.
inline int64_t plain_dot(const int8_t* a, const int8_t* b, size_t dim) {
    int64_t sum = 0;
    for (size_t i = 0; i < dim; ++i) sum += a[i] * b[i];
    return sum;
}

}  // namespace test
