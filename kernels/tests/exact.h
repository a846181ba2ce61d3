// Arrays that end exactly where they say: whoever touches the byte behind them is caught.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#if !defined(__SANITIZE_ADDRESS__)
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace test {

#if defined(__SANITIZE_ADDRESS__)

// AddressSanitizer guards the end, and the first byte can lie as badly as the type allows.
struct Memory {
    Memory(size_t n_bytes, size_t alignment)
        : base(static_cast<char*>(std::malloc(alignment + n_bytes))), first(base + alignment) {
        if (base == nullptr) std::abort();
    }
    ~Memory() { std::free(base); }

    char* base;
    char* first;
};

#else

// A page without access guards the end, also where no sanitizer can run: in an emulator, and for
// instructions that sanitizers do not see. Sizes that are no power of two make for bad alignment.
struct Memory {
    Memory(size_t n_bytes, size_t) {
        const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
        const size_t n_open = (n_bytes + page - 1) / page * page;
        n_mapped = n_open + page;
        void* mapped =
            mmap(nullptr, n_mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (mapped == MAP_FAILED) std::abort();
        base = static_cast<char*>(mapped);
        if (mprotect(base + n_open, page, PROT_NONE) != 0) std::abort();
        first = base + (n_open - n_bytes);
    }
    ~Memory() { munmap(base, n_mapped); }

    size_t n_mapped;
    char* base;
    char* first;
};

#endif

// n elements of a plain type, none of them initialised to anything that could pass for a result.
template <typename T>
class Exact {
public:
    explicit Exact(size_t n) : memory_(n * sizeof(T), alignof(T)), n_(n) {
        std::memset(memory_.first, 0xa5, n * sizeof(T));
    }
    Exact(const Exact&) = delete;
    Exact& operator=(const Exact&) = delete;

    size_t size() const { return n_; }
    T* data() { return reinterpret_cast<T*>(memory_.first); }
    const T* data() const { return reinterpret_cast<const T*>(memory_.first); }
    T* begin() { return data(); }
    T* end() { return data() + n_; }
    T& operator[](size_t i) { return data()[i]; }
    const T& operator[](size_t i) const { return data()[i]; }

private:
    Memory memory_;
    size_t n_;
};

// Equal bits: what == cannot tell apart, such as 0 and -0, differs here.
template <typename T>
bool same_bits(const T* a, const T* b, size_t n) {
    return n == 0 || std::memcmp(a, b, n * sizeof(T)) == 0;
}

}  // namespace test
