// What one instruction set brings. A new one is a file beside serial.cpp that defines an Isa, and a
// line in the table of dispatch.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sr {

// Both assume checked arguments; ranges, rounding and results are those of smartrag_kernels.h.
using QuantizeI8 = int (*)(const float* rows, size_t n_rows, size_t dim, int8_t* codes,
                           float* scales);
using ScanI8 = void (*)(const int8_t* codes, const float* scales, size_t n_rows, size_t dim,
                        const int8_t* query, float query_scale, float* scores);

struct Isa {
    const char* name;
    bool (*runs_here)();  // asks the processor
    QuantizeI8 quantize_i8;
    ScanI8 scan_i8;
};

extern const Isa serial;

// The k best rows, whatever the instruction set that scans them; see sr_topk_i8. Returns how many.
size_t topk_i8(ScanI8 scan_i8, const int8_t* codes, const float* scales, size_t n_rows, size_t dim,
               const int8_t* query, float query_scale, const uint8_t* mask, size_t k,
               int64_t* rows, float* scores);

}  // namespace sr
