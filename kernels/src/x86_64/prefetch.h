// Asking for memory ahead of use.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sr {

// How far ahead rows are fetched, in bytes. The processor's own prefetching alone reached three
// fifths of the speed on matrices larger than the caches.
constexpr size_t AHEAD = 4096;

// Asks for the cache line `ahead` bytes behind an address, which may lie outside the matrix.
inline void prefetch(const void* address, size_t ahead) {
    __builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<uintptr_t>(address) + ahead));
}

}  // namespace sr
