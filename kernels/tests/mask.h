// Masks over rows, and the order of the rows that one leaves.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "exact.h"
#include "random.h"

namespace test {

enum class Kind { ABSENT, FULL, EMPTY, MIXED };
constexpr Kind KINDS[] = {Kind::ABSENT, Kind::FULL, Kind::EMPTY, Kind::MIXED};

class Mask {
public:
    Mask(Kind kind, size_t n_rows, Random& random)
        : kind_(kind), bytes_((n_rows + 7) / 8), n_rows_(n_rows) {
        // The bits behind the last row stay as they come: they mean nothing.
        for (uint8_t& byte : bytes_) byte = static_cast<uint8_t>(random.next());
        for (size_t row = 0; row < n_rows; ++row) {
            const int bit = 1 << (row % 8);
            if (kind == Kind::FULL) bytes_[row / 8] |= static_cast<uint8_t>(bit);
            if (kind == Kind::EMPTY) bytes_[row / 8] &= static_cast<uint8_t>(~bit);
        }
    }

    const uint8_t* data() const { return kind_ == Kind::ABSENT ? nullptr : bytes_.data(); }

    bool allows(size_t row) const {
        return kind_ == Kind::ABSENT || ((bytes_[row / 8] >> (row % 8)) & 1) != 0;
    }

    std::vector<int64_t> allowed() const {
        std::vector<int64_t> rows;
        for (size_t row = 0; row < n_rows_; ++row) {
            if (allows(row)) rows.push_back(static_cast<int64_t>(row));
        }
        return rows;
    }

    // Best first; a stable sort leaves equal ones in the order of their numbers.
    template <typename Better>
    std::vector<int64_t> ranking(Better better) const {
        std::vector<int64_t> rows = allowed();
        std::stable_sort(rows.begin(), rows.end(), better);
        return rows;
    }

private:
    Kind kind_;
    Exact<uint8_t> bytes_;
    size_t n_rows_;
};

}  // namespace test
