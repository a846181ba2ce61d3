// sr_scan_i8, sr_topk_i8 and sr_topk_u1 against loops over all rows and a sort.
#include <algorithm>
#include <vector>

#include "codes.h"
#include "exact.h"
#include "exactness.h"
#include "mask.h"
#include "random.h"

namespace test {
namespace {

// How many are asked for: none, one, a few, more than there are, the most that may be.
enum class Wanted { NONE, ONE, FEW, MORE, MOST };
constexpr Wanted WANTED[] = {Wanted::NONE, Wanted::ONE, Wanted::FEW, Wanted::MORE, Wanted::MOST};

size_t number(Wanted wanted, size_t n_rows, size_t most) {
    switch (wanted) {
        case Wanted::NONE: return 0;
        case Wanted::ONE: return 1;
        case Wanted::FEW: return 10;
        case Wanted::MORE: return n_rows + 3;
        default: return most;
    }
}

// A row for each query, as sr_scan_i8 returns them.
std::vector<float> plain_scores(const Codes& rows, const Codes& queries) {
    std::vector<float> scores;
    for (size_t q = 0; q < queries.n; ++q) {
        for (size_t row = 0; row < rows.n; ++row) {
            const int64_t dot = plain_dot(rows.vector(row), queries.vector(q), rows.dim);
            scores.push_back(static_cast<float>(dot) * (rows.scales[row] * queries.scales[q]));
        }
    }
    return scores;
}

void check_scan(const Codes& rows, const Codes& queries, const std::vector<float>& expected,
                const Isas& isas) {
    for (const char* name : isas) {
        use(name);
        Exact<float> scores(queries.n * rows.n);
        const int code =
            sr_scan_i8(rows.codes.data(), rows.scales.data(), rows.n, rows.dim,
                       queries.codes.data(), queries.scales.data(), queries.n, scores.data());
        CHECK(code == SR_OK, "sr_scan_i8 returned %d", code);
        CHECK(same_bits(scores.data(), expected.data(), expected.size()),
              "sr_scan_i8, rows %zu, dim %zu, queries %zu", rows.n, rows.dim, queries.n);
    }
}

void check_topk(const Codes& rows, const Codes& queries, const std::vector<float>& all_scores,
                const Mask& mask, size_t k, const Isas& isas) {
    std::vector<std::vector<int64_t>> rankings;
    for (size_t q = 0; q < queries.n; ++q) {
        const float* of_query = all_scores.data() + q * rows.n;
        rankings.push_back(mask.ranking(
            [of_query](int64_t a, int64_t b) { return of_query[a] > of_query[b]; }));
    }
    for (const char* name : isas) {
        use(name);
        Exact<int64_t> found(queries.n * k);
        Exact<float> scores(queries.n * k);
        size_t n_found = 0;
        const int code = sr_topk_i8(rows.codes.data(), rows.scales.data(), rows.n, rows.dim,
                                    queries.codes.data(), queries.scales.data(), queries.n,
                                    mask.data(), k, found.data(), scores.data(), &n_found);
        CHECK(code == SR_OK, "sr_topk_i8 returned %d", code);
        for (size_t q = 0; q < queries.n; ++q) {
            CHECK(n_found == std::min(k, rankings[q].size()),
                  "n_found %zu of sr_topk_i8, rows %zu, dim %zu, queries %zu, k %zu", n_found,
                  rows.n, rows.dim, queries.n, k);
            CHECK(same_bits(found.data() + q * k, rankings[q].data(), n_found),
                  "rows of sr_topk_i8, query %zu of %zu, rows %zu, dim %zu, k %zu", q, queries.n,
                  rows.n, rows.dim, k);
            for (size_t i = 0; i < n_found; ++i) {
                const size_t row = static_cast<size_t>(rankings[q][i]);
                CHECK(same_bits(&scores[q * k + i], &all_scores[q * rows.n + row], 1),
                      "score of row %zu in sr_topk_i8, query %zu of %zu, rows %zu, dim %zu, k %zu",
                      row, q, queries.n, rows.n, rows.dim, k);
            }
        }
    }
}

// Sketches by turns anything, a copy of one before, the query itself and its opposite.
void fill_sketches(Exact<uint64_t>& sketches, size_t n_rows, size_t dim,
                   const Exact<uint64_t>& query, Random& random) {
    const size_t n_words = query.size();
    for (size_t i = 0; i < n_rows * n_words; ++i) {
        const size_t row = i / n_words;
        const size_t word = i % n_words;
        switch (row % 4) {
            case 0: sketches[i] = random.next(); break;
            case 1: sketches[i] = sketches[row / 2 * n_words + word]; break;
            case 2: sketches[i] = query[word]; break;
            default: sketches[i] = ~query[word];
        }
        if (word == n_words - 1 && dim % 64 != 0) sketches[i] &= (uint64_t{1} << (dim % 64)) - 1;
    }
}

std::vector<int32_t> plain_distances(const Exact<uint64_t>& sketches, size_t n_rows, size_t dim,
                                     const Exact<uint64_t>& query) {
    std::vector<int32_t> distances(n_rows, 0);
    for (size_t row = 0; row < n_rows; ++row) {
        for (size_t i = 0; i < dim; ++i) {
            const size_t word = i / 64;
            const uint64_t differing = sketches[row * query.size() + word] ^ query[word];
            distances[row] += (differing >> (i % 64)) & 1;
        }
    }
    return distances;
}

void check_nearest(size_t n_rows, size_t dim, const Mask& mask, size_t k, const Isas& isas,
                   Random& random) {
    Exact<uint64_t> query(SR_SKETCH_WORDS(dim));
    fill_sketches(query, 1, dim, query, random);
    Exact<uint64_t> sketches(n_rows * query.size());
    fill_sketches(sketches, n_rows, dim, query, random);

    const std::vector<int32_t> expected = plain_distances(sketches, n_rows, dim, query);
    const std::vector<int64_t> ranking = mask.ranking(
        [&expected](int64_t a, int64_t b) {
            return expected[static_cast<size_t>(a)] < expected[static_cast<size_t>(b)];
        });
    for (const char* name : isas) {
        use(name);
        for (const bool wants_all : {false, true}) {
            Exact<int64_t> found(k);
            Exact<int32_t> distances(k);
            Exact<int32_t> of_all(n_rows);
            size_t n_found = 0;
            const int code = sr_topk_u1(sketches.data(), n_rows, dim, query.data(), mask.data(), k,
                                        found.data(), distances.data(),
                                        wants_all ? of_all.data() : nullptr, &n_found);
            CHECK(code == SR_OK, "sr_topk_u1 returned %d", code);
            CHECK(n_found == std::min(k, ranking.size()),
                  "n_found %zu of sr_topk_u1, rows %zu, dim %zu, k %zu", n_found, n_rows, dim, k);
            for (size_t i = 0; i < n_found; ++i) {
                const size_t row = static_cast<size_t>(ranking[i]);
                CHECK(found[i] == ranking[i] && distances[i] == expected[row],
                      "entry %zu of sr_topk_u1, rows %zu, dim %zu, k %zu", i, n_rows, dim, k);
            }
            for (const int64_t row : wants_all ? ranking : std::vector<int64_t>()) {
                const size_t i = static_cast<size_t>(row);
                CHECK(of_all[i] == expected[i],
                      "of_all[%zu] of sr_topk_u1, rows %zu, dim %zu, k %zu", i, n_rows, dim, k);
            }
        }
    }
}

// Every shape with some mask and k, then every mask with every k for some shapes.
template <typename CheckCase>
void for_each_case(Random& random, CheckCase check_case) {
    for_each_shape([&](size_t n_rows, size_t dim) {
        const Kind kind = random.one_of(KINDS);
        check_case(n_rows, dim, kind, random.one_of(WANTED));
    });
    for (const size_t n_rows : {0, 1, 5, 64, 257, 600}) {
        for (const Kind kind : KINDS) {
            for (const Wanted wanted : WANTED) check_case(n_rows, 33, kind, wanted);
        }
    }
}

}  // namespace

void check_search_i8(const Isas& isas) {
    Random random(3);
    for_each_case(random, [&](size_t n_rows, size_t dim, Kind kind, Wanted wanted) {
        const Codes rows(n_rows, dim, random);
        const Codes queries(random.one_of(QUERY_COUNTS), dim, random);
        const std::vector<float> scores = plain_scores(rows, queries);
        check_scan(rows, queries, scores, isas);
        check_topk(rows, queries, scores, Mask(kind, n_rows, random),
                   number(wanted, n_rows, SR_MAX_K), isas);
    });
    // As large as a dot product can become.
    for (const size_t dim : {70001, SR_MAX_DIM}) {
        const Codes rows(5, dim, random);
        const Codes queries(3, dim, random);
        check_scan(rows, queries, plain_scores(rows, queries), isas);
    }
}

void check_topk_u1(const Isas& isas) {
    Random random(4);
    for_each_case(random, [&](size_t n_rows, size_t dim, Kind kind, Wanted wanted) {
        check_nearest(n_rows, dim, Mask(kind, n_rows, random),
                      number(wanted, n_rows, SR_MAX_CANDIDATES), isas, random);
    });
}

}  // namespace test
