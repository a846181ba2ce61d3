// The best entries of a stream of scored rows, kept in the caller's arrays.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sr {

inline bool allowed(const uint8_t* mask, size_t row) {
    return mask == nullptr || ((mask[row / 8] >> (row % 8)) & 1) != 0;
}

// At most k entries, as a binary heap with the last-ranked one at the root, where a better row
// replaces it. Entry a ranks before b if its score is higher or, at equal score, its row is lower.
template <typename Score>
class Best {
public:
    Best() = default;  // of no entries
    Best(size_t k, int64_t* rows, Score* scores) : k_(k), rows_(rows), scores_(scores) {}

    size_t size() const { return size_; }

    void offer(int64_t row, Score score) {
        if (size_ < k_) {
            put(size_, row, score);
            sift_up(size_++);
        } else if (k_ > 0 && (score > scores_[0] || (score == scores_[0] && row < rows_[0]))) {
            put(0, row, score);
            sift_down(0);
        }
    }

    // Offers rows first, first + 1, ... that all come behind those offered before, so that a tie never
    // displaces an entry and most rows cost one comparison.
    void offer_block(size_t first, size_t n_rows, const Score* scores) {
        size_t i = 0;
        for (; i < n_rows && size_ < k_; ++i) offer(static_cast<int64_t>(first + i), scores[i]);
        if (size_ == 0) return;
        Score lowest = scores_[0];
        for (; i < n_rows; ++i) {
            if (scores[i] > lowest) {
                offer(static_cast<int64_t>(first + i), scores[i]);
                lowest = scores_[0];
            }
        }
    }

    // Heap sort: the last-ranked entry moves to the end until the arrays are in rank order. No more
    // rows can be offered afterwards.
    void sort() {
        const size_t n_found = size_;
        while (size_ > 1) {
            exchange(0, --size_);
            sift_down(0);
        }
        size_ = n_found;
    }

private:
    void put(size_t entry, int64_t row, Score score) {
        rows_[entry] = row;
        scores_[entry] = score;
    }

    bool ranks_after(size_t a, size_t b) const {
        if (scores_[a] != scores_[b]) return scores_[a] < scores_[b];
        return rows_[a] > rows_[b];
    }

    void exchange(size_t a, size_t b) {
        const int64_t row = rows_[a];
        const Score score = scores_[a];
        put(a, rows_[b], scores_[b]);
        put(b, row, score);
    }

    void sift_up(size_t entry) {
        while (entry > 0) {
            const size_t parent = (entry - 1) / 2;
            if (!ranks_after(entry, parent)) return;
            exchange(entry, parent);
            entry = parent;
        }
    }

    void sift_down(size_t entry) {
        for (;;) {
            size_t child = 2 * entry + 1;
            if (child >= size_) return;
            if (child + 1 < size_ && ranks_after(child + 1, child)) ++child;
            if (!ranks_after(child, entry)) return;
            exchange(child, entry);
            entry = child;
        }
    }

    size_t k_ = 0;
    int64_t* rows_ = nullptr;
    Score* scores_ = nullptr;
    size_t size_ = 0;
};

}  // namespace sr
