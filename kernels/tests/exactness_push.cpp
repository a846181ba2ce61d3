// sr_push_f32 against a plain power iteration in double.
#include <algorithm>
#include <vector>

#include "exact.h"
#include "exactness.h"
#include "graph.h"
#include "random.h"

namespace test {
namespace {

struct Seeds {
    explicit Seeds(size_t n) : nodes(n), masses(n) {}

    Exact<int32_t> nodes;
    Exact<float> masses;
};

struct Result {
    Result(const Graph& graph, const Seeds& seeds, float restart, float epsilon, size_t k)
        : nodes(k), scores(k) {
        Exact<sr_push_scratch> scratch(graph.n_nodes);
        std::fill(scratch.begin(), scratch.end(), sr_push_scratch{});
        const int code =
            sr_push_f32(graph.offsets.data(), graph.targets.data(), graph.weights.data(),
                        graph.n_nodes, seeds.nodes.data(), seeds.masses.data(), seeds.nodes.size(),
                        restart, epsilon, scratch.data(), k, nodes.data(), scores.data(), &n_found,
                        &waiting);
        CHECK(code == SR_OK, "sr_push_f32 returned %d, nodes %zu, seeds %zu", code, graph.n_nodes,
              seeds.nodes.size());
        CHECK(n_found <= k, "sr_push_f32 found %zu nodes of %zu", n_found, k);
        const std::vector<char> zeros(graph.n_nodes * sizeof(sr_push_scratch), 0);
        CHECK(same_bits(reinterpret_cast<const char*>(scratch.data()), zeros.data(), zeros.size()),
              "scratch of sr_push_f32 is left dirty, nodes %zu", graph.n_nodes);
    }

    Exact<int64_t> nodes;
    Exact<float> scores;
    size_t n_found = 0;
    float waiting = 0.0f;
};

// Steps until less than 1e-12 of the walks have not restarted.
std::vector<double> plain_pagerank(const Graph& graph, const Seeds& seeds, double restart) {
    std::vector<double> start(graph.n_nodes, 0.0);
    for (size_t i = 0; i < seeds.nodes.size(); ++i) {
        start[static_cast<size_t>(seeds.nodes[i])] += static_cast<double>(seeds.masses[i]);
    }
    std::vector<double> scores(graph.n_nodes, 0.0);
    std::vector<double> walks = start;
    for (double left = 1.0; left > 1e-12; left *= 1.0 - restart) {
        std::vector<double> onward(graph.n_nodes, 0.0);
        for (size_t node = 0; node < graph.n_nodes; ++node) {
            scores[node] += restart * walks[node];
            const double moving = (1.0 - restart) * walks[node];
            for (size_t i = 0; i < graph.n_edges(node); ++i) {
                const size_t edge = static_cast<size_t>(graph.offsets[node]) + i;
                onward[static_cast<size_t>(graph.targets[edge])] +=
                    moving * static_cast<double>(graph.weights[edge]);
            }
            if (graph.n_edges(node) > 0) continue;
            for (size_t to = 0; to < graph.n_nodes; ++to) onward[to] += moving * start[to];
        }
        walks = onward;
    }
    return scores;
}

void check_order(const Result& result, size_t n_nodes) {
    for (size_t i = 0; i < result.n_found; ++i) {
        CHECK(result.nodes[i] >= 0 && static_cast<size_t>(result.nodes[i]) < n_nodes,
              "sr_push_f32 found node %lld of %zu", static_cast<long long>(result.nodes[i]),
              n_nodes);
        if (i == 0) continue;
        const bool is_lower = result.scores[i] < result.scores[i - 1];
        const bool is_tie = result.scores[i] == result.scores[i - 1];
        CHECK(is_lower || (is_tie && result.nodes[i] > result.nodes[i - 1]),
              "order of sr_push_f32 at entry %zu, nodes %zu", i, n_nodes);
    }
}

void check_against_plain(const Graph& graph, const Seeds& seeds, float restart, float epsilon) {
    const Result all(graph, seeds, restart, epsilon, graph.n_nodes);
    check_order(all, graph.n_nodes);

    std::vector<double> missing = plain_pagerank(graph, seeds, static_cast<double>(restart));
    for (size_t i = 0; i < all.n_found; ++i) {
        missing[static_cast<size_t>(all.nodes[i])] -= static_cast<double>(all.scores[i]);
    }
    double most_waiting = 0.0;
    double total = 0.0;
    for (size_t node = 0; node < graph.n_nodes; ++node) {
        CHECK(missing[node] >= -1e-6, "sr_push_f32 overrates node %zu of %zu by %g", node,
              graph.n_nodes, -missing[node]);
        total += missing[node];
        const size_t n_edges = std::max<size_t>(graph.n_edges(node), 1);
        most_waiting += static_cast<double>(epsilon) * static_cast<double>(n_edges);
    }
    const double waiting = static_cast<double>(all.waiting);
    CHECK(total <= waiting + 1e-5, "sr_push_f32 lacks %g, but %g waits, nodes %zu, epsilon %g",
          total, waiting, graph.n_nodes, static_cast<double>(epsilon));
    CHECK(waiting >= 0.0 && waiting <= most_waiting * 1.001,
          "%g waits in sr_push_f32 where %g may, nodes %zu, epsilon %g", waiting, most_waiting,
          graph.n_nodes, static_cast<double>(epsilon));

    for (const size_t k : {size_t{0}, size_t{1}, size_t{3}, size_t{SR_MAX_K}}) {
        const Result few(graph, seeds, restart, epsilon, k);
        const size_t n = std::min(k, all.n_found);
        CHECK(few.n_found == n && same_bits(few.nodes.data(), all.nodes.data(), n) &&
                  same_bits(few.scores.data(), all.scores.data(), n) &&
                  same_bits(&few.waiting, &all.waiting, 1),
              "sr_push_f32 with k %zu differs, nodes %zu, epsilon %g", k, graph.n_nodes,
              static_cast<double>(epsilon));
    }
}

void check_random_graphs() {
    Random random(5);
    for (const size_t n_nodes : {1, 2, 3, 5, 8, 40}) {
        for (const float restart : {0.15f, 0.5f, 1.0f}) {
            for (const float epsilon : {0.1f, 1e-3f, 1e-6f, SR_MIN_EPSILON}) {
                const Graph graph(n_nodes, random_edges(n_nodes, random));
                Seeds seeds(1 + random.below(4));  // some of them the same node
                for (size_t i = 0; i < seeds.nodes.size(); ++i) {
                    seeds.nodes[i] = static_cast<int32_t>(random.below(n_nodes));
                    seeds.masses[i] = 1.0f / static_cast<float>(seeds.nodes.size());
                }
                check_against_plain(graph, seeds, restart, epsilon);
            }
        }
    }
}

void check_one_node(const std::vector<Edge>& edges) {
    const Graph graph(1, edges);
    Seeds seed(1);
    seed.nodes[0] = 0;
    seed.masses[0] = 1.0f;
    check_against_plain(graph, seed, 0.15f, 1e-3f);
}

void check_without_nodes() {
    size_t n_found = 1;
    float waiting = 1.0f;
    const int code = sr_push_f32(nullptr, nullptr, nullptr, 0, nullptr, nullptr, 0, 0.15f, 1e-3f,
                                 nullptr, 0, nullptr, nullptr, &n_found, &waiting);
    CHECK(code == SR_OK, "sr_push_f32 without nodes returned %d", code);
    CHECK(n_found == 0 && waiting == 0.0f, "sr_push_f32 without nodes found %zu", n_found);
}

}  // namespace

void check_push_f32(const Isas& isas) {
    for (const char* name : isas) {
        use(name);
        check_without_nodes();
        check_one_node({});
        check_one_node({{0, 0, 1.0f}});
        check_random_graphs();
    }
}

}  // namespace test
