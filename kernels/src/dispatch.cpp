// Which instruction set does the work: chosen once at load, from what the processor has.
#include <cstring>

#include "isa.h"
#include "smartrag_kernels.h"

#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

namespace {

bool always() { return true; }

struct Candidate {
    const sr::Isa* isa;
    bool (*runs_here)();
};

// Best first. What exists on one architecture only stands under an #if, here and nowhere else.
#if defined(__x86_64__) && defined(__GNUC__)

bool has_avx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt"); }
bool has_avx512vnni() {
    return has_avx2() && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vnni");
}

const Candidate CANDIDATES[] = {
    {&sr::avx512vnni, has_avx512vnni},
    {&sr::avx2, has_avx2},
    {&sr::serial, always},
};

#elif defined(__aarch64__) && defined(__GNUC__)

#if defined(__linux__)  // Android too. The bits are the kernel's; old headers lack their names.
bool has_dotprod() { return (getauxval(AT_HWCAP) & (1ul << 20)) != 0; }
bool has_i8mm() { return has_dotprod() && (getauxval(AT_HWCAP2) & (1ul << 13)) != 0; }
#else  // what every processor of the platform has, the compiler was told
#if defined(__ARM_FEATURE_DOTPROD)
bool has_dotprod() { return true; }
#else
bool has_dotprod() { return false; }
#endif
bool has_i8mm() { return false; }
#endif

const Candidate CANDIDATES[] = {
    {&sr::i8mm, has_i8mm},
    {&sr::dotprod, has_dotprod},
    {&sr::neon, always},
    {&sr::serial, always},
};

#else

const Candidate CANDIDATES[] = {
    {&sr::serial, always},
};

#endif

const sr::Isa* best_isa() {
    for (const Candidate& candidate : CANDIDATES) {
        if (candidate.runs_here()) return candidate.isa;
    }
    return &sr::serial;
}

// Filled once, by the loader, before any call can come; afterwards only sr_use changes it.
const sr::Isa* chosen = best_isa();

}  // namespace

const sr::Isa& sr::current() { return *chosen; }

extern "C" {

int sr_abi_version(void) { return SR_ABI_VERSION; }

const char* sr_isa(void) { return chosen->name; }

int sr_use(const char* isa) {
    if (isa == nullptr) return SR_ERROR_ARGUMENT;
    for (const Candidate& candidate : CANDIDATES) {
        if (std::strcmp(candidate.isa->name, isa) == 0 && candidate.runs_here()) {
            chosen = candidate.isa;
            return SR_OK;
        }
    }
    return SR_ERROR_ISA;
}

}  // extern "C"
