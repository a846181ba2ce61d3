// The best k rows in one pass over the codes, in memory that does not grow with the rows.
#include "isa.h"

namespace sr {
namespace {

// Rows scanned at a time: their scores stay in the first-level cache (1 KiB).
constexpr size_t BLOCK_ROWS = 256;

// The best entries so far, kept in the caller's output arrays as a binary heap with the last-ranked
// entry at the root, where a better row replaces it.
struct Heap {
    int64_t* rows;
    float* scores;
    size_t size;
};

// Whether entry a ranks after entry b: a lower score or, at equal score, a higher row number.
bool ranks_after(const Heap& heap, size_t a, size_t b) {
    if (heap.scores[a] != heap.scores[b]) return heap.scores[a] < heap.scores[b];
    return heap.rows[a] > heap.rows[b];
}

void exchange(Heap& heap, size_t a, size_t b) {
    const int64_t row = heap.rows[a];
    const float score = heap.scores[a];
    heap.rows[a] = heap.rows[b];
    heap.scores[a] = heap.scores[b];
    heap.rows[b] = row;
    heap.scores[b] = score;
}

void sift_up(Heap& heap, size_t entry) {
    while (entry > 0) {
        const size_t parent = (entry - 1) / 2;
        if (!ranks_after(heap, entry, parent)) return;
        exchange(heap, entry, parent);
        entry = parent;
    }
}

void sift_down(Heap& heap, size_t entry) {
    for (;;) {
        size_t child = 2 * entry + 1;
        if (child >= heap.size) return;
        if (child + 1 < heap.size && ranks_after(heap, child + 1, child)) ++child;
        if (!ranks_after(heap, child, entry)) return;
        exchange(heap, child, entry);
        entry = child;
    }
}

void offer(Heap& heap, size_t k, int64_t row, float score) {
    if (heap.size < k) {
        heap.rows[heap.size] = row;
        heap.scores[heap.size] = score;
        sift_up(heap, heap.size++);
    } else if (score > heap.scores[0]) {  // rows come in ascending order, so a tie never displaces
        heap.rows[0] = row;
        heap.scores[0] = score;
        sift_down(heap, 0);
    }
}

// Heap sort: the last-ranked entry moves to the end until the array is in rank order.
void sort_by_rank(Heap heap) {
    while (heap.size > 1) {
        exchange(heap, 0, --heap.size);
        sift_down(heap, 0);
    }
}

bool allowed(const uint8_t* mask, size_t row) {
    return mask == nullptr || ((mask[row / 8] >> (row % 8)) & 1) != 0;
}

}  // namespace

size_t topk_i8(ScanI8 scan_i8, const int8_t* codes, const float* scales, size_t n_rows, size_t dim,
               const int8_t* query, float query_scale, const uint8_t* mask, size_t k,
               int64_t* rows, float* scores) {
    if (k == 0) return 0;
    Heap heap = {rows, scores, 0};
    float block[BLOCK_ROWS];

    // Masked rows cost nothing but their bit: only runs of allowed rows are scanned.
    for (size_t begin = 0; begin < n_rows;) {
        if (!allowed(mask, begin)) {
            ++begin;
            continue;
        }
        size_t end = begin + 1;
        while (end < n_rows && end - begin < BLOCK_ROWS && allowed(mask, end)) ++end;
        scan_i8(codes + begin * dim, scales + begin, end - begin, dim, query, query_scale, block);
        for (size_t row = begin; row < end; ++row) {
            offer(heap, k, static_cast<int64_t>(row), block[row - begin]);
        }
        begin = end;
    }
    sort_by_rank(heap);
    return heap.size;
}

}  // namespace sr
