// The dot products of avx512vnni.cpp against plain loops, on any x86-64 processor: compiled with
// emulated/ before the system's folders, so that its instructions are loops, too. Under
// AddressSanitizer these also show what a masked load would read.
#include <cstdio>
#include <initializer_list>

#include "../src/isa.h"
#include "check.h"
#include "codes.h"
#include "exact.h"
#include "random.h"
#include "smartrag_kernels.h"

// Named by avx512vnni.cpp, defined in avx2.cpp, and tested there.
void sr::differing_u1_popcnt(const uint64_t*, size_t, size_t, const uint64_t*, int32_t*) {
    CHECK(false, "differing_u1_popcnt is not under test");
}

namespace {

constexpr int32_t UNTOUCHED = 123456789;

void check_dots(size_t n_rows, size_t dim, size_t n_queries, test::Random& random) {
    const test::Codes rows(n_rows, dim, random);
    const test::Codes queries(n_queries, dim, random);
    const size_t stride = n_rows + 3;
    test::Exact<int32_t> dots(n_queries * stride);
    for (int32_t& dot : dots) dot = UNTOUCHED;
    sr::avx512vnni.dots_i8(rows.codes.data(), n_rows, dim, queries.codes.data(), n_queries,
                           dots.data(), stride);
    for (size_t q = 0; q < n_queries; ++q) {
        for (size_t i = 0; i < stride; ++i) {
            const int64_t expected =
                i < n_rows ? test::plain_dot(rows.vector(i), queries.vector(q), dim) : UNTOUCHED;
            CHECK(dots[q * stride + i] == expected,
                  "dots_i8, row %zu of %zu, dim %zu, query %zu of %zu: %d", i, n_rows, dim, q,
                  n_queries, dots[q * stride + i]);
        }
    }
}

}  // namespace

int main() {
    test::isa = "avx512vnni, emulated";
    test::Random random(1);
    for (const size_t dim : test::DIMS) {
        for (const size_t n_rows : {0, 1, 2, 3, 4, 5, 7, 8, 9, 65}) {
            for (const size_t n_queries : {0, 1, 3}) check_dots(n_rows, dim, n_queries, random);
        }
    }
    check_dots(5, SR_MAX_DIM, 3, random);  // as large as a dot product can become
    std::printf("ok avx512vnni\n");
    return 0;
}
