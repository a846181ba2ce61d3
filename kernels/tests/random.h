// Pseudo-random numbers, the same on every platform (SplitMix64: Steele, Lea and Flood, 2014).
#pragma once

#include <cstddef>
#include <cstdint>

namespace test {

class Random {
public:
    explicit Random(uint64_t seed) : state_(seed) {}

    uint64_t next() {
        state_ += 0x9e3779b97f4a7c15u;
        uint64_t z = state_;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }

    // 0 .. n - 1
    size_t below(size_t n) { return static_cast<size_t>(next() % n); }

    // -1 .. 1
    float within_one() { return static_cast<float>(below(2000001)) / 1e6f - 1.0f; }

    template <typename T, size_t N>
    T one_of(const T (&choices)[N]) {
        return choices[below(N)];
    }

private:
    uint64_t state_;
};

}  // namespace test
