// Feeds fuzz_arguments.cpp with as many pseudo-random inputs as the argument says, always the same
// ones, where libFuzzer is missing.
#include <cstdio>
#include <cstdlib>

#include "exact.h"
#include "random.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int main(int n_arguments, char** arguments) {
    if (n_arguments != 2) {
        std::fprintf(stderr, "usage: %s INPUTS\n", arguments[0]);
        return 2;
    }
    const long n_inputs = std::strtol(arguments[1], nullptr, 10);
    test::Random random(1);
    for (long i = 0; i < n_inputs; ++i) {
        test::Exact<uint8_t> input(random.below(64));
        for (uint8_t& byte : input) byte = static_cast<uint8_t>(random.next());
        LLVMFuzzerTestOneInput(input.data(), input.size());
    }
    std::printf("ok %ld inputs\n", n_inputs);
    return 0;
}
