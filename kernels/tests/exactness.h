// The parts of the program exactness.cpp. Each checks all of the given instruction sets against
// plain loops.
#pragma once

#include <vector>

#include "check.h"
#include "smartrag_kernels.h"

namespace test {

using Isas = std::vector<const char*>;

void check_quantize_i8(const Isas& isas);
void check_sketch_u1(const Isas& isas);
void check_search_i8(const Isas& isas);
void check_topk_u1(const Isas& isas);
void check_push_f32(const Isas& isas);

// False where this processor lacks it.
inline bool use(const char* name) {
    isa = name;
    return sr_use(name) == SR_OK;
}

}  // namespace test
