// The exported functions: check the arguments, then go to the instruction set chosen at load.
#include <cstring>

#include "isa.h"
#include "smartrag_kernels.h"

namespace {

// Best first. What exists on one architecture only stands under an #if, here and nowhere else.
const sr::Isa* const ISAS[] = {
    &sr::serial,
};

const sr::Isa* best_isa() {
    for (const sr::Isa* isa : ISAS) {
        if (isa->runs_here()) return isa;
    }
    return &sr::serial;
}

// Filled once, by the loader, before any call can come; afterwards only sr_use changes it.
const sr::Isa* current = best_isa();

bool valid_dim(size_t dim) { return dim >= 1 && dim <= SR_MAX_DIM; }

bool valid_matrix(const void* elements, const float* scales, size_t n_rows, size_t dim) {
    return valid_dim(dim) && (n_rows == 0 || (elements != nullptr && scales != nullptr));
}

}  // namespace

extern "C" {

int sr_abi_version(void) { return SR_ABI_VERSION; }

const char* sr_isa(void) { return current->name; }

int sr_use(const char* isa) {
    if (isa == nullptr) return SR_ERROR_ARGUMENT;
    for (const sr::Isa* candidate : ISAS) {
        if (std::strcmp(candidate->name, isa) == 0 && candidate->runs_here()) {
            current = candidate;
            return SR_OK;
        }
    }
    return SR_ERROR_ISA;
}

int sr_quantize_i8(const float* rows, size_t n_rows, size_t dim, int8_t* codes, float* scales) {
    if (!valid_matrix(rows, scales, n_rows, dim)) return SR_ERROR_ARGUMENT;
    if (n_rows > 0 && codes == nullptr) return SR_ERROR_ARGUMENT;
    return current->quantize_i8(rows, n_rows, dim, codes, scales);
}

int sr_scan_i8(const int8_t* codes, const float* scales, size_t n_rows, size_t dim,
               const int8_t* query, float query_scale, float* scores) {
    if (!valid_matrix(codes, scales, n_rows, dim)) return SR_ERROR_ARGUMENT;
    if (query == nullptr || (n_rows > 0 && scores == nullptr)) return SR_ERROR_ARGUMENT;
    current->scan_i8(codes, scales, n_rows, dim, query, query_scale, scores);
    return SR_OK;
}

int sr_topk_i8(const int8_t* codes, const float* scales, size_t n_rows, size_t dim,
               const int8_t* query, float query_scale, const uint8_t* mask, size_t k,
               int64_t* rows, float* scores, size_t* n_found) {
    if (!valid_matrix(codes, scales, n_rows, dim)) return SR_ERROR_ARGUMENT;
    if (query == nullptr || n_found == nullptr || k > SR_MAX_K) return SR_ERROR_ARGUMENT;
    if (k > 0 && (rows == nullptr || scores == nullptr)) return SR_ERROR_ARGUMENT;
    *n_found = sr::topk_i8(current->scan_i8, codes, scales, n_rows, dim, query, query_scale, mask,
                           k, rows, scores);
    return SR_OK;
}

}  // extern "C"
