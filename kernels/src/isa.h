// What one instruction set brings: the two loops over whole matrices, in exact integers. All else is
// common to them. A new one is a file beside serial.cpp that defines an Isa, and a line in the table
// of dispatch.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sr {

// Dot products of rows with queries, row r and query q to dots[q * stride + r]. Arguments are
// checked; ranges are those of smartrag_kernels.h.
using DotsI8 = void (*)(const int8_t* rows, size_t n_rows, size_t dim, const int8_t* queries,
                        size_t n_queries, int32_t* dots, size_t stride);

// The number of bits in which each row of n_words differs from the query.
using DifferingU1 = void (*)(const uint64_t* rows, size_t n_rows, size_t n_words,
                             const uint64_t* query, int32_t* distances);

// The tail of a dot product, where fewer codes are left than an instruction takes.
inline int32_t tail_dot_i8(const int8_t* a, const int8_t* b, size_t begin, size_t dim) {
    int32_t sum = 0;
    for (size_t i = begin; i < dim; ++i) sum += a[i] * b[i];
    return sum;
}

// Up to N consecutive rows; behind the last one stands the first of them again, so that a loop over
// N needs no special case. What it computes for those is not stored.
template <size_t N>
struct Rows {
    Rows(const int8_t* rows, size_t first, size_t n_rows, size_t dim)
        : n(n_rows - first < N ? n_rows - first : N) {
        for (size_t i = 0; i < N; ++i) at[i] = rows + (first + (i < n ? i : 0)) * dim;
    }

    const int8_t* at[N];
    size_t n;
};

struct Isa {
    const char* name;
    DotsI8 dots_i8;
    DifferingU1 differing_u1;
};

extern const Isa serial;
extern const Isa avx2;
extern const Isa avx512vnni;
extern const Isa neon;
extern const Isa dotprod;
extern const Isa i8mm;

// Shared between the instruction sets of an architecture.
void differing_u1_popcnt(const uint64_t* rows, size_t n_rows, size_t n_words,
                         const uint64_t* query, int32_t* distances);
void differing_u1_neon(const uint64_t* rows, size_t n_rows, size_t n_words, const uint64_t* query,
                       int32_t* distances);

// The instruction set in use; see dispatch.cpp.
const Isa& current();

}  // namespace sr
