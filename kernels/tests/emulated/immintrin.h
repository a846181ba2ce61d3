// The AVX-512 that avx512vnni.cpp uses, in plain C++ after Intel's Intrinsics Guide, for processors
// without it. Found instead of the compiler's header of this name. What is not here, that file does
// not use.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

// Nor may the compiler itself choose AVX-512, which it does to move 64 bytes where it is allowed to.
#define TARGET

struct __m512i {
    uint8_t bytes[64];
};

using __mmask64 = uint64_t;

inline bool emulated_bit(__mmask64 mask, int lane) { return ((mask >> lane) & 1) != 0; }

inline int8_t emulated_i8(__m512i a, int lane) { return static_cast<int8_t>(a.bytes[lane]); }

inline __m512i _mm512_setzero_si512() { return {}; }

// Bytes that are masked off are not touched: the processor suppresses their faults.
inline __m512i _mm512_maskz_loadu_epi8(__mmask64 mask, const void* address) {
    __m512i result = {};
    for (int lane = 0; lane < 64; ++lane) {
        if (emulated_bit(mask, lane)) {
            result.bytes[lane] = static_cast<const uint8_t*>(address)[lane];
        }
    }
    return result;
}

inline void _mm512_store_si512(void* address, __m512i a) {
    if (reinterpret_cast<uintptr_t>(address) % 64 != 0) {
        std::fputs("_mm512_store_si512: the address is not aligned to 64 bytes\n", stderr);
        std::abort();
    }
    std::memcpy(address, a.bytes, sizeof a.bytes);
}

inline __mmask64 _mm512_movepi8_mask(__m512i a) {
    __mmask64 mask = 0;
    for (int lane = 0; lane < 64; ++lane) {
        mask |= static_cast<__mmask64>(a.bytes[lane] >> 7) << lane;
    }
    return mask;
}

// |-128| is 128, as an unsigned byte.
inline __m512i _mm512_abs_epi8(__m512i a) {
    __m512i result;
    for (int lane = 0; lane < 64; ++lane) {
        result.bytes[lane] = static_cast<uint8_t>(std::abs(int{emulated_i8(a, lane)}));
    }
    return result;
}

// a - b, modulo 256, where the mask is set; source elsewhere.
inline __m512i _mm512_mask_sub_epi8(__m512i source, __mmask64 mask, __m512i a, __m512i b) {
    __m512i result = source;
    for (int lane = 0; lane < 64; ++lane) {
        if (emulated_bit(mask, lane)) {
            result.bytes[lane] = static_cast<uint8_t>(a.bytes[lane] - b.bytes[lane]);
        }
    }
    return result;
}

// To each int32 lane of the accumulator, modulo 2^32, four products of an unsigned byte of a and a
// signed byte of b.
inline __m512i _mm512_dpbusd_epi32(__m512i accumulator, __m512i a, __m512i b) {
    uint32_t sums[16];
    std::memcpy(sums, accumulator.bytes, sizeof sums);
    for (int lane = 0; lane < 64; ++lane) {
        sums[lane / 4] += static_cast<uint32_t>(a.bytes[lane] * emulated_i8(b, lane));
    }
    __m512i result;
    std::memcpy(result.bytes, sums, sizeof sums);
    return result;
}
