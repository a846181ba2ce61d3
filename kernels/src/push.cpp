// Personalised PageRank by forward push: see smartrag_kernels.h.
#include "best.h"
#include "smartrag_kernels.h"

namespace {

struct Walk {
    const int64_t* offsets;
    const int32_t* targets;
    const float* weights;
    size_t n_nodes;
    float epsilon;
    sr_push_scratch* nodes;

    // The queue is a ring of n_nodes entries: a node waits in it at most once.
    size_t queue_first = 0;
    size_t queue_length = 0;
    size_t n_touched = 0;

    size_t n_edges(size_t node) const {
        return static_cast<size_t>(offsets[node + 1] - offsets[node]);
    }

    float most_waiting(size_t node) const {
        const size_t n = n_edges(node);
        return epsilon * static_cast<float>(n > 1 ? n : 1);
    }

    // A node is in the queue exactly while more waits at it than it may keep.
    void add(int32_t node, float mass) {
        sr_push_scratch& at = nodes[node];
        if (at.waiting == 0.0f && at.score == 0.0f) {
            if (mass == 0.0f) return;
            nodes[n_touched++].touched = node;
        }
        const float most = most_waiting(static_cast<size_t>(node));
        const bool was_queued = at.waiting > most;
        at.waiting += mass;
        if (!was_queued && at.waiting > most) {
            const size_t last = queue_first + queue_length++;
            nodes[last < n_nodes ? last : last - n_nodes].queue = node;
        }
    }

    bool pop(int32_t* node, float* mass) {
        if (queue_length == 0) return false;
        *node = nodes[queue_first].queue;
        nodes[queue_first].queue = 0;
        queue_first = queue_first + 1 < n_nodes ? queue_first + 1 : 0;
        --queue_length;
        *mass = nodes[*node].waiting;
        nodes[*node].waiting = 0.0f;
        return true;
    }
};

}  // namespace

extern "C" int sr_push_f32(const int64_t* offsets, const int32_t* targets, const float* weights,
                           size_t n_nodes, const int32_t* seeds, const float* masses,
                           size_t n_seeds, float restart, float epsilon, sr_push_scratch* scratch,
                           size_t k, int64_t* nodes, float* scores, size_t* n_found,
                           float* waiting) {
    if (!(restart >= SR_MIN_RESTART && restart <= 1.0f) || !(epsilon >= SR_MIN_EPSILON)) {
        return SR_ERROR_ARGUMENT;
    }
    if (k > SR_MAX_K || n_nodes > INT32_MAX || n_found == nullptr || waiting == nullptr) {
        return SR_ERROR_ARGUMENT;
    }
    if (k > 0 && (nodes == nullptr || scores == nullptr)) return SR_ERROR_ARGUMENT;
    if (n_nodes > 0 && (offsets == nullptr || scratch == nullptr)) return SR_ERROR_ARGUMENT;
    if (n_nodes > 0 && offsets[n_nodes] > 0 && (targets == nullptr || weights == nullptr)) {
        return SR_ERROR_ARGUMENT;
    }
    if (n_seeds > 0 && (seeds == nullptr || masses == nullptr)) return SR_ERROR_ARGUMENT;
    for (size_t i = 0; i < n_seeds; ++i) {
        if (seeds[i] < 0 || static_cast<size_t>(seeds[i]) >= n_nodes) return SR_ERROR_ARGUMENT;
        if (!(masses[i] > 0.0f && masses[i] <= 1.0f)) return SR_ERROR_ARGUMENT;
    }

    Walk walk = {offsets, targets, weights, n_nodes, epsilon, scratch};
    for (size_t i = 0; i < n_seeds; ++i) walk.add(seeds[i], masses[i]);

    int32_t node;
    float mass;
    while (walk.pop(&node, &mass)) {
        scratch[node].score += restart * mass;
        const float onward = (1.0f - restart) * mass;
        const int64_t end = offsets[node + 1];
        for (int64_t edge = offsets[node]; edge < end; ++edge) {
            walk.add(targets[edge], onward * weights[edge]);
        }
        if (walk.n_edges(static_cast<size_t>(node)) == 0) {
            for (size_t i = 0; i < n_seeds; ++i) walk.add(seeds[i], onward * masses[i]);
        }
    }

    // What waits at a node is at least `restart` parts its own.
    sr::Best<float> best(k, nodes, scores);
    *waiting = 0.0f;
    for (size_t i = 0; i < walk.n_touched; ++i) {
        const int32_t touched = scratch[i].touched;
        best.offer(touched, scratch[touched].score + restart * scratch[touched].waiting);
        *waiting += (1.0f - restart) * scratch[touched].waiting;
    }
    for (size_t i = 0; i < walk.n_touched; ++i) {
        scratch[scratch[i].touched].score = 0.0f;
        scratch[scratch[i].touched].waiting = 0.0f;
        scratch[i].touched = 0;
    }
    best.sort();
    *n_found = best.size();
    return SR_OK;
}
