// Every instruction set of this processor against plain loops, to the last bit, through the C
// interface: exactness [--expect NAME], where NAME is what the library must have chosen by itself.
#include "exactness.h"

#include <cstring>

int main(int n_arguments, char** arguments) {
    test::isa = sr_isa();
    CHECK(sr_abi_version() == SR_ABI_VERSION, "sr_abi_version %d", sr_abi_version());
    if (n_arguments == 3 && std::strcmp(arguments[1], "--expect") == 0) {
        CHECK(std::strcmp(sr_isa(), arguments[2]) == 0, "sr_isa, expected %s", arguments[2]);
    } else if (n_arguments != 1) {
        std::fprintf(stderr, "usage: %s [--expect NAME]\n", arguments[0]);
        return 2;
    }

    test::Isas isas;
    for (const char* name : {"avx512vnni", "avx2", "i8mm", "dotprod", "neon", "serial"}) {
        if (!test::use(name)) continue;
        CHECK(std::strcmp(sr_isa(), name) == 0, "sr_isa after sr_use: %s", sr_isa());
        isas.push_back(name);
    }
    test::check_quantize_i8(isas);
    test::check_sketch_u1(isas);
    test::check_search_i8(isas);
    test::check_topk_u1(isas);
    test::check_push_f32(isas);

    std::printf("ok");
    for (const char* name : isas) std::printf(" %s", name);
    std::printf("\n");
    return 0;
}
