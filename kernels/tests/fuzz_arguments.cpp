// Any arguments at all to the C interface: each call must return the code that smartrag_kernels.h
// promises for them, and touch nothing but arrays of exactly the promised sizes. For libFuzzer:
//
//     cd kernels && clang++ -std=c++17 -O1 -g -fsanitize=fuzzer,address,undefined -Iinclude
//         src/*.cpp src/x86_64/*.cpp tests/fuzz_arguments.cpp && ./a.out
//
// Without it, fuzz_driver.cpp makes up inputs.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "check.h"
#include "codes.h"
#include "exact.h"
#include "graph.h"
#include "mask.h"
#include "random.h"
#include "smartrag_kernels.h"

using namespace test;

namespace {

constexpr const char* NAMES[] = {"serial", "neon", "dotprod", "i8mm", "avx2", "avx512vnni"};
constexpr float NOT_A_NUMBER = std::numeric_limits<float>::quiet_NaN();
constexpr float INFINITE = std::numeric_limits<float>::infinity();

// The input decides on sizes and pointers; contents come from a generator that it seeds.
class Input {
public:
    Input(const uint8_t* data, size_t size) : data_(data), left_(size) {}

    size_t below(size_t n) { return byte() % n; }

    // Mostly a small number, sometimes a large one.
    template <size_t N>
    size_t size(size_t n_small, const size_t (&large)[N]) {
        const size_t choice = byte();
        return choice < 224 ? choice % n_small : large[choice % N];
    }

    template <size_t N>
    float mostly(float usual, const float (&others)[N]) {
        const size_t choice = byte();
        return choice < 224 ? usual : others[choice % N];
    }

    template <typename T>
    T* or_null(T* pointer) {
        return byte() % 16 == 15 ? nullptr : pointer;
    }

    Random random() { return Random(byte()); }

    std::string rest() { return std::string(reinterpret_cast<const char*>(data_), left_); }

private:
    uint8_t byte() {
        if (left_ == 0) return 0;
        --left_;
        return *data_++;
    }

    const uint8_t* data_;
    size_t left_;
};

// The numbers of an interface function and whether they are in range. Where one is not, no array
// can have its size, and those that depend on it are empty.
struct Dim {
    explicit Dim(Input& input) : value(input.size(130, LARGE)) {
        is_valid = value >= 1 && value <= SR_MAX_DIM;
        sized = is_valid ? value : 0;
    }

    // So many rows as are worth the time.
    size_t rows(Input& input) const { return input.below(sized < 1000 ? 100 : 3); }

    static constexpr size_t LARGE[] = {384, SR_MAX_DIM, size_t{SR_MAX_DIM} + 1, SIZE_MAX};
    size_t value;
    size_t sized;
    bool is_valid;
};

struct K {
    K(Input& input, size_t most)
        : value(input.size(20, {most, most + 1, SIZE_MAX})),
          sized(value <= most ? value : 0),
          is_valid(value <= most) {}

    size_t value;
    size_t sized;
    bool is_valid;
};

bool given(const void* array, size_t n) { return array != nullptr || n == 0; }

void check_code(const char* function, int code, int expected) {
    CHECK(code == expected, "%s returned %d, expected %d", function, code, expected);
}

int ok_if(bool valid) { return valid ? SR_OK : SR_ERROR_ARGUMENT; }

void fuzz_use(Input& input) {
    const std::string before = sr_isa();
    const size_t choice = input.below(2 * std::size(NAMES));
    const std::string text = choice < std::size(NAMES) ? NAMES[choice] : input.rest();
    Exact<char> name(text.size() + 1);
    std::memcpy(name.data(), text.c_str(), name.size());
    check_code("sr_use", sr_use(nullptr), SR_ERROR_ARGUMENT);
    const int code = sr_use(name.data());
    if (code != SR_OK) check_code("sr_use", code, SR_ERROR_ISA);
    const std::string after = code == SR_OK ? name.data() : before;
    CHECK(after == sr_isa(), "sr_isa after sr_use: %s, expected %s", sr_isa(), after.c_str());
}

void fuzz_quantize(Input& input) {
    Random random = input.random();
    const Dim dim(input);
    const size_t n_rows = dim.rows(input);
    Exact<float> rows(n_rows * dim.sized);
    const float other = input.mostly(0.0f, {NOT_A_NUMBER, INFINITE, -INFINITE, 1.01e16f, 1e16f});
    for (float& component : rows) component = random.below(50) == 0 ? other : random.within_one();
    Exact<int8_t> codes(rows.size());
    Exact<float> scales(n_rows);

    const float* rows_or_null = input.or_null(rows.data());
    int8_t* codes_or_null = input.or_null(codes.data());
    float* scales_or_null = input.or_null(scales.data());
    const bool is_valid = dim.is_valid && given(rows_or_null, n_rows) &&
                          given(codes_or_null, n_rows) && given(scales_or_null, n_rows);
    const bool is_storable = std::all_of(rows.begin(), rows.end(), [](float component) {
        return std::fabs(component) <= SR_MAX_COMPONENT;
    });
    const int code =
        sr_quantize_i8(rows_or_null, n_rows, dim.value, codes_or_null, scales_or_null);
    check_code("sr_quantize_i8", code, is_valid && !is_storable ? SR_ERROR_VALUE : ok_if(is_valid));
}

void fuzz_scan(Input& input) {
    Random random = input.random();
    const Dim dim(input);
    const Codes rows(dim.rows(input), dim.sized, random);
    const Codes queries(dim.rows(input), dim.sized, random);
    Exact<float> scores(rows.n * queries.n);

    const int8_t* codes = input.or_null(rows.codes.data());
    const float* scales = input.or_null(rows.scales.data());
    const int8_t* query_codes = input.or_null(queries.codes.data());
    const float* query_scales = input.or_null(queries.scales.data());
    float* scores_or_null = input.or_null(scores.data());
    const bool is_valid = dim.is_valid && given(codes, rows.n) && given(scales, rows.n) &&
                          given(query_codes, queries.n) && given(query_scales, queries.n) &&
                          given(scores_or_null, scores.size());
    const int code = sr_scan_i8(codes, scales, rows.n, dim.value, query_codes, query_scales,
                                queries.n, scores_or_null);
    check_code("sr_scan_i8", code, ok_if(is_valid));
}

void check_found(const char* function, const int64_t* found, size_t n_found, size_t k,
                 const Mask& mask) {
    const std::vector<int64_t> allowed = mask.allowed();
    CHECK(n_found == std::min(k, allowed.size()), "%s found %zu", function, n_found);
    for (size_t i = 0; i < n_found; ++i) {
        CHECK(std::binary_search(allowed.begin(), allowed.end(), found[i]), "%s found row %lld",
              function, static_cast<long long>(found[i]));
    }
}

void fuzz_topk_i8(Input& input) {
    Random random = input.random();
    const Dim dim(input);
    const Codes rows(dim.rows(input), dim.sized, random);
    const Codes queries(dim.rows(input), dim.sized, random);
    const Mask mask(KINDS[input.below(4)], rows.n, random);
    const K k(input, SR_MAX_K);
    Exact<int64_t> found(queries.n * k.sized);
    Exact<float> scores(queries.n * k.sized);
    size_t n_found = 0;

    const int8_t* codes = input.or_null(rows.codes.data());
    const float* scales = input.or_null(rows.scales.data());
    const int8_t* query_codes = input.or_null(queries.codes.data());
    const float* query_scales = input.or_null(queries.scales.data());
    int64_t* found_or_null = input.or_null(found.data());
    float* scores_or_null = input.or_null(scores.data());
    size_t* n_found_or_null = input.or_null(&n_found);
    const bool is_valid = dim.is_valid && k.is_valid && given(codes, rows.n) &&
                          given(scales, rows.n) && given(query_codes, queries.n) &&
                          given(query_scales, queries.n) && given(found_or_null, found.size()) &&
                          given(scores_or_null, scores.size()) && n_found_or_null != nullptr;
    const int code =
        sr_topk_i8(codes, scales, rows.n, dim.value, query_codes, query_scales, queries.n,
                   mask.data(), k.value, found_or_null, scores_or_null, n_found_or_null);
    check_code("sr_topk_i8", code, ok_if(is_valid));
    for (size_t q = 0; is_valid && q < queries.n; ++q) {
        check_found("sr_topk_i8", found.data() + q * k.value, n_found, k.value, mask);
    }
}

void fuzz_sketch(Input& input) {
    Random random = input.random();
    const Dim dim(input);
    const Codes rows(dim.rows(input), dim.sized, random);
    Exact<int8_t> centre(dim.sized);
    for (int8_t& code : centre) code = static_cast<int8_t>(random.below(255));
    Exact<uint64_t> sketches(rows.n * SR_SKETCH_WORDS(dim.sized));

    const int8_t* codes = input.or_null(rows.codes.data());
    const int8_t* centre_or_null = input.or_null(centre.data());
    uint64_t* sketches_or_null = input.or_null(sketches.data());
    const bool is_valid = dim.is_valid && given(codes, rows.n) && centre_or_null != nullptr &&
                          given(sketches_or_null, rows.n);
    const int code = sr_sketch_u1(codes, rows.n, dim.value, centre_or_null, sketches_or_null);
    check_code("sr_sketch_u1", code, ok_if(is_valid));
}

void fuzz_topk_u1(Input& input) {
    Random random = input.random();
    const Dim dim(input);
    const size_t n_rows = dim.rows(input);
    const Mask mask(KINDS[input.below(4)], n_rows, random);
    const K k(input, SR_MAX_CANDIDATES);
    Exact<uint64_t> query(SR_SKETCH_WORDS(dim.sized));
    for (uint64_t& word : query) word = 0;
    Exact<uint64_t> sketches(n_rows * query.size());
    for (uint64_t& word : sketches) word = random.below(2);
    Exact<int64_t> found(k.sized);
    Exact<int32_t> distances(k.sized);
    Exact<int32_t> of_all(n_rows);
    size_t n_found = 0;

    const uint64_t* sketches_or_null = input.or_null(sketches.data());
    const uint64_t* query_or_null = input.or_null(query.data());
    int64_t* found_or_null = input.or_null(found.data());
    int32_t* distances_or_null = input.or_null(distances.data());
    size_t* n_found_or_null = input.or_null(&n_found);
    const bool is_valid = dim.is_valid && k.is_valid && given(sketches_or_null, n_rows) &&
                          query_or_null != nullptr && given(found_or_null, k.value) &&
                          given(distances_or_null, k.value) && n_found_or_null != nullptr;
    const int code = sr_topk_u1(sketches_or_null, n_rows, dim.value, query_or_null, mask.data(),
                                k.value, found_or_null, distances_or_null,
                                input.or_null(of_all.data()), n_found_or_null);
    check_code("sr_topk_u1", code, ok_if(is_valid));
    if (is_valid) check_found("sr_topk_u1", found.data(), n_found, k.value, mask);
}

// The contents of a graph are not checked, so it is always a valid one.
void fuzz_push(Input& input) {
    Random random = input.random();
    const size_t n_nodes = input.size(40, {100, size_t{INT32_MAX} + 1, SIZE_MAX});
    const size_t sized = n_nodes <= INT32_MAX ? n_nodes : 0;
    const Graph graph(sized, random_edges(sized, random));
    const size_t n_seeds = input.below(5);
    const int32_t n_targets = static_cast<int32_t>(sized);
    Exact<int32_t> seeds(n_seeds);
    Exact<float> masses(n_seeds);
    bool is_valid = n_nodes <= INT32_MAX && (sized > 0 || n_seeds == 0);
    for (size_t i = 0; i < n_seeds; ++i) {
        const size_t node = input.size(sized + 1, {0, SIZE_MAX});  // one too many, and -1
        seeds[i] = static_cast<int32_t>(node);
        masses[i] = input.mostly(1.0f / static_cast<float>(n_seeds),
                                 {0.0f, -0.5f, 1.5f, NOT_A_NUMBER, INFINITE});
        is_valid = is_valid && seeds[i] >= 0 && seeds[i] < n_targets;
        is_valid = is_valid && masses[i] > 0.0f && masses[i] <= 1.0f;
    }
    // A restart less likely than 0.05 is as valid, but walks on for long.
    const float restart = input.mostly(0.05f + 0.01f * static_cast<float>(input.below(96)),
                                       {0.0f, 0.009f, -0.5f, 1.5f, NOT_A_NUMBER, INFINITE});
    const float epsilon = input.mostly(1e-3f, {SR_MIN_EPSILON, 1e-6f, 1.0f, INFINITE, 0.0f, 1e-10f,
                                               -1e-3f, NOT_A_NUMBER});
    const K k(input, SR_MAX_K);
    Exact<sr_push_scratch> scratch(sized);
    std::fill(scratch.begin(), scratch.end(), sr_push_scratch{});
    Exact<int64_t> nodes(k.sized);
    Exact<float> scores(k.sized);
    size_t n_found = 0;
    float waiting = 0.0f;

    const int64_t* offsets = input.or_null(graph.offsets.data());
    const int32_t* targets = input.or_null(graph.targets.data());
    const float* weights = input.or_null(graph.weights.data());
    const int32_t* seeds_or_null = input.or_null(seeds.data());
    const float* masses_or_null = input.or_null(masses.data());
    sr_push_scratch* scratch_or_null = input.or_null(scratch.data());
    int64_t* nodes_or_null = input.or_null(nodes.data());
    float* scores_or_null = input.or_null(scores.data());
    size_t* n_found_or_null = input.or_null(&n_found);
    float* waiting_or_null = input.or_null(&waiting);
    is_valid = is_valid && k.is_valid && restart >= SR_MIN_RESTART && restart <= 1.0f &&
               epsilon >= SR_MIN_EPSILON && given(offsets, n_nodes) &&
               given(targets, graph.targets.size()) && given(weights, graph.weights.size()) &&
               given(seeds_or_null, n_seeds) && given(masses_or_null, n_seeds) &&
               given(scratch_or_null, n_nodes) && given(nodes_or_null, k.value) &&
               given(scores_or_null, k.value) && n_found_or_null != nullptr &&
               waiting_or_null != nullptr;
    const int code = sr_push_f32(offsets, targets, weights, n_nodes, seeds_or_null, masses_or_null,
                                 n_seeds, restart, epsilon, scratch_or_null, k.value, nodes_or_null,
                                 scores_or_null, n_found_or_null, waiting_or_null);
    check_code("sr_push_f32", code, ok_if(is_valid));
    for (size_t i = 0; is_valid && i < n_found; ++i) {
        CHECK(nodes[i] >= 0 && nodes[i] < n_targets, "sr_push_f32 found node %lld",
              static_cast<long long>(nodes[i]));
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    constexpr void (*FUZZERS[])(Input&) = {fuzz_use,    fuzz_quantize, fuzz_scan, fuzz_topk_i8,
                                           fuzz_sketch, fuzz_topk_u1,  fuzz_push};
    Input input(data, size);
    sr_use("serial");  // the same input must not depend on the one before
    sr_use(NAMES[input.below(std::size(NAMES))]);
    isa = sr_isa();
    FUZZERS[input.below(std::size(FUZZERS))](input);
    return 0;
}
