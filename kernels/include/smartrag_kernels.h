/* Nearest rows over int8 codes and 1-bit sketches, and personalised PageRank: the C interface.
 *
 * Codes. A vector x of `dim` floats is stored as one scale and `dim` codes,
 *
 *     scale = max|x| / 127        code[i] = round(x[i] / scale), ties to even, within [-127, 127]
 *
 * so that x[i] is about code[i] * scale. The code -128 is never written, and callers must not pass
 * it: instructions that multiply |a| by b cannot represent it. A row of zeros has scale 0 and
 * codes 0; so has a row so small (below about 1e-43) that its scale underflows.
 *
 * Scores. The score of a row is
 *
 *     (float)dot * (scale_row * query_scale)        dot = sum of code_row[i] * code_query[i]
 *
 * with dot an exact int32, and both products and the conversion rounded to float in that order.
 * Every implementation returns the same bits.
 *
 * Sketches. A sketch keeps one bit of each code: whether it lies above that of a centre. Bit i of a
 * row is bit i % 64 of its word i / 64; there are SR_SKETCH_WORDS(dim) words to a row, and the bits
 * behind `dim` are 0. The distance of two sketches is the number of bits in which they differ.
 *
 * Ranges. dot cannot overflow while 128 * 128 * dim < 2^31, that is dim <= SR_MAX_DIM.
 * Components lie within +-SR_MAX_COMPONENT and scales within [0, SR_MAX_SCALE], which keeps every
 * score finite: 127 * 127 * SR_MAX_DIM * SR_MAX_SCALE^2 < 2.2e37.
 *
 * Layout. Matrices are row-major without padding; sizes count rows and dimensions, never bytes.
 * No alignment beyond that of the element type is needed. A pointer to an array without elements
 * may be NULL. Outputs must not overlap inputs. Bit i of a mask (least significant bit of byte
 * i / 8 first) says whether row i may be returned; NULL allows all.
 *
 * Errors. Functions returning int return SR_OK or one of the SR_ERROR codes; after an error the
 * contents of the outputs are unspecified.
 *
 * Threads. Any number of threads may call everything but sr_use at the same time.
 */
#ifndef SMARTRAG_KERNELS_H
#define SMARTRAG_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define SR_API __declspec(dllexport)
#else
#define SR_API __attribute__((visibility("default")))
#endif

#define SR_ABI_VERSION 2

#define SR_MAX_DIM 131071
#define SR_MAX_K 1024
#define SR_MAX_CANDIDATES 65536
#define SR_MAX_COMPONENT 1e16f
#define SR_MAX_SCALE 1e14f
#define SR_SKETCH_WORDS(dim) (((dim) + 63) / 64)

#define SR_OK 0
#define SR_ERROR_ARGUMENT 1 /* a needed pointer is NULL, or a size or number is out of range */
#define SR_ERROR_VALUE 2    /* a component is not finite or beyond +-SR_MAX_COMPONENT */
#define SR_ERROR_ISA 3      /* unknown instruction set, or this processor lacks it */

#ifdef __cplusplus
extern "C" {
#endif

/* SR_ABI_VERSION of the compiled library; it changes with any change of this interface. */
SR_API int sr_abi_version(void);

/* Name of the instruction set in use, chosen when the library was loaded. Never NULL. */
SR_API const char* sr_isa(void);

/* Uses another instruction set from now on. Not while another thread is in this library. */
SR_API int sr_use(const char* isa);

/* Codes and scales of n_rows vectors: rows[n_rows * dim] -> codes[n_rows * dim], scales[n_rows]. */
SR_API int sr_quantize_i8(const float* rows, size_t n_rows, size_t dim, int8_t* codes,
                          float* scales);

/* The score of every row for every query: -> scores[n_queries * n_rows], a row per query. The
 * matrix is read once for every 32 queries. */
SR_API int sr_scan_i8(const int8_t* codes, const float* scales, size_t n_rows, size_t dim,
                      const int8_t* queries, const float* query_scales, size_t n_queries,
                      float* scores);

/* For every query the k best rows, by score descending and, at equal score, by row number
 * ascending, in one pass over the matrix for every 32 queries.
 *
 * *n_found = min(k, rows allowed), the same for every query. Query q owns entries q * k onwards of
 * rows[n_queries * k] and scores[n_queries * k]; its entries beyond *n_found are unspecified.
 * 0 <= k <= SR_MAX_K.
 */
SR_API int sr_topk_i8(const int8_t* codes, const float* scales, size_t n_rows, size_t dim,
                      const int8_t* queries, const float* query_scales, size_t n_queries,
                      const uint8_t* mask, size_t k, int64_t* rows, float* scores,
                      size_t* n_found);

/* Sketches of n_rows coded vectors: bit i says whether codes[i] > centre[i].
 * -> sketches[n_rows * SR_SKETCH_WORDS(dim)]. */
SR_API int sr_sketch_u1(const int8_t* codes, size_t n_rows, size_t dim, const int8_t* centre,
                        uint64_t* sketches);

/* The k rows nearest to a sketch, by distance ascending and, at equal distance, by row number
 * ascending: -> rows[k], distances[k], of which *n_found = min(k, rows allowed) are set.
 * 0 <= k <= SR_MAX_CANDIDATES. If `of_all` is not NULL, of_all[n_rows] receives the distance of
 * every allowed row in the same pass. */
SR_API int sr_topk_u1(const uint64_t* sketches, size_t n_rows, size_t dim, const uint64_t* query,
                      const uint8_t* mask, size_t k, int64_t* rows, int32_t* distances,
                      int32_t* of_all, size_t* n_found);

/* Personalised PageRank around a few seeds by forward push (Andersen, Chung and Lang, 2006).
 *
 * The graph is n_nodes rows of compressed sparse transitions: the edges of node u are entries
 * offsets[u] .. offsets[u + 1] of targets and weights. Weights are non-negative and those of a node
 * sum to 1 or, where it has no edges, to nothing. A walk restarts at a seed, chosen in proportion
 * to its mass, with probability `restart` at every step, and always where there is no edge to take.
 * Masses are positive and sum to 1; a seed may occur more than once.
 *
 * Mass is pushed on from a node while more than epsilon * max(1, its edges) waits there, so the work
 * is bounded by 1 / (restart * epsilon) edges whatever the size of the graph. A score is never above
 * the exact one, and all scores together lack at most the mass that still waits; *waiting says how
 * much that is.
 *
 * scratch[n_nodes] must be all zero bytes, and is so again on return. Returns the k nodes with the
 * highest scores, at equal score the lower number first: nodes[k], scores[k], of which *n_found are
 * set. 0 <= k <= SR_MAX_K, SR_MIN_RESTART <= restart <= 1 (below it, float rounds too much away
 * over the many steps of a walk), epsilon >= SR_MIN_EPSILON. The contents of offsets, targets and
 * weights are not checked.
 */
#define SR_MIN_EPSILON 1e-9f
#define SR_MIN_RESTART 0.01f
typedef struct {
    float score;
    float waiting;
    int32_t queue;   /* entry i of the queue of nodes to push from, a ring */
    int32_t touched; /* entry i of the list of nodes to clean up */
} sr_push_scratch;

SR_API int sr_push_f32(const int64_t* offsets, const int32_t* targets, const float* weights,
                       size_t n_nodes, const int32_t* seeds, const float* masses, size_t n_seeds,
                       float restart, float epsilon, sr_push_scratch* scratch, size_t k,
                       int64_t* nodes, float* scores, size_t* n_found, float* waiting);

#ifdef __cplusplus
}
#endif

#endif
