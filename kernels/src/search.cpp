// Scores and the best rows, in one pass over a matrix and in memory that does not grow with it.
#include <cstring>

#include "best.h"
#include "isa.h"
#include "smartrag_kernels.h"

namespace {

// Rows and queries worked on at a time: 64 rows of 384 codes stay in the first-level cache while
// the queries of a tile pass over them.
constexpr size_t BLOCK_ROWS = 64;
constexpr size_t TILE_QUERIES = 32;
constexpr size_t BLOCK_SKETCHES = 256;

size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

// Runs of allowed rows, none longer than a block: masked rows cost nothing but their bit.
class Runs {
public:
    Runs(const uint8_t* mask, size_t n_rows, size_t longest)
        : mask_(mask), n_rows_(n_rows), longest_(longest) {}

    // The next run is begin .. end; false behind the last one.
    bool next() {
        begin = end;
        while (begin < n_rows_ && !sr::allowed(mask_, begin)) ++begin;
        end = begin;
        if (mask_ == nullptr) {
            end = begin + smaller(longest_, n_rows_ - begin);
        } else {
            while (end < n_rows_ && end - begin < longest_ && sr::allowed(mask_, end)) ++end;
        }
        return begin < end;
    }

    size_t begin = 0;
    size_t end = 0;

private:
    const uint8_t* mask_;
    size_t n_rows_;
    size_t longest_;
};

void scores_of_block(const int32_t* dots, const float* scales, size_t n_rows, float query_scale,
                     float* scores) {
    for (size_t row = 0; row < n_rows; ++row) {
        scores[row] = static_cast<float>(dots[row]) * (scales[row] * query_scale);
    }
}

bool valid_search(const void* matrix, const float* scales, size_t n_rows, size_t dim,
                  const int8_t* queries, const float* query_scales, size_t n_queries) {
    if (dim < 1 || dim > SR_MAX_DIM) return false;
    if (n_rows > 0 && (matrix == nullptr || scales == nullptr)) return false;
    return n_queries == 0 || (queries != nullptr && query_scales != nullptr);
}

// The best k rows for at most TILE_QUERIES queries.
void topk_tile(const int8_t* codes, const float* scales, size_t n_rows, size_t dim,
               const int8_t* queries, const float* query_scales, size_t n_queries,
               const uint8_t* mask, size_t k, int64_t* rows, float* scores) {
    sr::Best<float> best[TILE_QUERIES];
    for (size_t q = 0; q < n_queries; ++q) best[q] = {k, rows + q * k, scores + q * k};

    int32_t dots[TILE_QUERIES * BLOCK_ROWS];
    float block[BLOCK_ROWS];
    for (Runs run(mask, n_rows, BLOCK_ROWS); run.next();) {
        const size_t n_run = run.end - run.begin;
        sr::current().dots_i8(codes + run.begin * dim, n_run, dim, queries, n_queries, dots,
                              BLOCK_ROWS);
        for (size_t q = 0; q < n_queries; ++q) {
            scores_of_block(dots + q * BLOCK_ROWS, scales + run.begin, n_run, query_scales[q],
                            block);
            best[q].offer_block(run.begin, n_run, block);
        }
    }
    for (size_t q = 0; q < n_queries; ++q) best[q].sort();
}

}  // namespace

extern "C" {

int sr_scan_i8(const int8_t* codes, const float* scales, size_t n_rows, size_t dim,
               const int8_t* queries, const float* query_scales, size_t n_queries,
               float* scores) {
    if (!valid_search(codes, scales, n_rows, dim, queries, query_scales, n_queries)) {
        return SR_ERROR_ARGUMENT;
    }
    if (n_rows > 0 && n_queries > 0 && scores == nullptr) return SR_ERROR_ARGUMENT;

    int32_t dots[TILE_QUERIES * BLOCK_ROWS];
    for (size_t first = 0; first < n_queries; first += TILE_QUERIES) {
        const size_t n_tile = smaller(TILE_QUERIES, n_queries - first);
        for (Runs run(nullptr, n_rows, BLOCK_ROWS); run.next();) {
            sr::current().dots_i8(codes + run.begin * dim, run.end - run.begin, dim,
                                  queries + first * dim, n_tile, dots, BLOCK_ROWS);
            for (size_t q = 0; q < n_tile; ++q) {
                scores_of_block(dots + q * BLOCK_ROWS, scales + run.begin, run.end - run.begin,
                                query_scales[first + q],
                                scores + (first + q) * n_rows + run.begin);
            }
        }
    }
    return SR_OK;
}

int sr_topk_i8(const int8_t* codes, const float* scales, size_t n_rows, size_t dim,
               const int8_t* queries, const float* query_scales, size_t n_queries,
               const uint8_t* mask, size_t k, int64_t* rows, float* scores, size_t* n_found) {
    if (!valid_search(codes, scales, n_rows, dim, queries, query_scales, n_queries)) {
        return SR_ERROR_ARGUMENT;
    }
    if (n_found == nullptr || k > SR_MAX_K) return SR_ERROR_ARGUMENT;
    if (k > 0 && n_queries > 0 && (rows == nullptr || scores == nullptr)) {
        return SR_ERROR_ARGUMENT;
    }
    size_t n_allowed = 0;
    for (Runs run(mask, n_rows, n_rows); run.next();) n_allowed += run.end - run.begin;
    *n_found = smaller(k, n_allowed);
    if (*n_found == 0) return SR_OK;
    for (size_t first = 0; first < n_queries; first += TILE_QUERIES) {
        topk_tile(codes, scales, n_rows, dim, queries + first * dim, query_scales + first,
                  smaller(TILE_QUERIES, n_queries - first), mask, k, rows + first * k,
                  scores + first * k);
    }
    return SR_OK;
}

int sr_topk_u1(const uint64_t* sketches, size_t n_rows, size_t dim, const uint64_t* query,
               const uint8_t* mask, size_t k, int64_t* rows, int32_t* distances, int32_t* of_all,
               size_t* n_found) {
    if (dim < 1 || dim > SR_MAX_DIM || k > SR_MAX_CANDIDATES) return SR_ERROR_ARGUMENT;
    if (query == nullptr || n_found == nullptr) return SR_ERROR_ARGUMENT;
    if (n_rows > 0 && sketches == nullptr) return SR_ERROR_ARGUMENT;
    if (k > 0 && (rows == nullptr || distances == nullptr)) return SR_ERROR_ARGUMENT;

    const size_t n_words = SR_SKETCH_WORDS(dim);
    sr::Best<int32_t> best(k, rows, distances);
    int32_t block[BLOCK_SKETCHES];
    for (Runs run(mask, n_rows, BLOCK_SKETCHES); run.next();) {
        const size_t n_run = run.end - run.begin;
        sr::current().differing_u1(sketches + run.begin * n_words, n_run, n_words, query, block);
        if (of_all != nullptr) std::memcpy(of_all + run.begin, block, n_run * sizeof *block);
        for (size_t i = 0; i < n_run; ++i) block[i] = -block[i];  // the nearest has the best score
        best.offer_block(run.begin, n_run, block);
    }
    best.sort();
    for (size_t i = 0; i < best.size(); ++i) distances[i] = -distances[i];
    *n_found = best.size();
    return SR_OK;
}

}  // extern "C"
