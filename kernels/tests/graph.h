// Small random graphs with all that is allowed: nodes without edges or reached by none, loops,
// several edges to one node, edges of weight 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "exact.h"
#include "random.h"

namespace test {

struct Edge {
    size_t from;
    int32_t to;
    float weight;
};

inline std::vector<Edge> random_edges(size_t n_nodes, Random& random) {
    constexpr float PARTS[] = {0.0f, 1.0f, 1.0f, 2.0f};
    std::vector<Edge> edges;
    for (size_t node = 0; node < n_nodes; ++node) {
        const size_t degree = random.below(5);
        float total = 0.0f;
        for (size_t i = 0; i < degree; ++i) {
            // The first part keeps the total above 0.
            const float part = i == 0 ? 1.0f : random.one_of(PARTS);
            edges.push_back({node, static_cast<int32_t>(random.below(n_nodes)), part});
            total += part;
        }
        for (size_t i = 0; i < degree; ++i) edges[edges.size() - 1 - i].weight /= total;
    }
    return edges;
}

// Compressed rows, as sr_push_f32 takes them.
struct Graph {
    Graph(size_t nodes, const std::vector<Edge>& edges)
        : n_nodes(nodes), offsets(nodes + 1), targets(edges.size()), weights(edges.size()) {
        size_t i = 0;
        for (size_t node = 0; node < n_nodes; ++node) {
            offsets[node] = static_cast<int64_t>(i);
            for (; i < edges.size() && edges[i].from == node; ++i) {
                targets[i] = edges[i].to;
                weights[i] = edges[i].weight;
            }
        }
        offsets[n_nodes] = static_cast<int64_t>(i);
    }

    size_t n_edges(size_t node) const {
        return static_cast<size_t>(offsets[node + 1] - offsets[node]);
    }

    size_t n_nodes;
    Exact<int64_t> offsets;
    Exact<int32_t> targets;
    Exact<float> weights;
};

}  // namespace test
