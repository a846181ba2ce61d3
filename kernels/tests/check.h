// CHECK(condition, format, ...) ends the program with a message where the condition does not hold.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace test {

// Named in every message; whoever changes the instruction set says so here.
inline const char* isa = "";

}  // namespace test

// The message is formatted only when it is needed: there are millions of checks. It ends in abort
// because libFuzzer then keeps the input that led to it.
#define CHECK(condition, ...)                                                              \
    do {                                                                                   \
        if (!(condition)) {                                                                \
            std::fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
            std::fprintf(stderr, "instruction set %s, ", test::isa);                       \
            std::fprintf(stderr, __VA_ARGS__);                                             \
            std::fprintf(stderr, "\n");                                                    \
            std::abort();                                                                  \
        }                                                                                  \
    } while (false)
