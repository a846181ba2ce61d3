/* Nearest rows by inner product over int8 codes: the C interface.
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
 * Ranges. dot cannot overflow while 128 * 128 * dim < 2^31, that is dim <= SR_MAX_DIM.
 * Components lie within +-SR_MAX_COMPONENT and scales within [0, SR_MAX_SCALE], which keeps every
 * score finite: 127 * 127 * SR_MAX_DIM * SR_MAX_SCALE^2 < 2.2e37.
 *
 * Layout. Matrices are row-major without padding; sizes count rows and dimensions, never bytes.
 * No alignment beyond that of the element type is needed. A pointer to an array without elements
 * may be NULL. Outputs must not overlap inputs.
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

#define SR_ABI_VERSION 1

#define SR_MAX_DIM 131071
#define SR_MAX_K 1024
#define SR_MAX_COMPONENT 1e16f
#define SR_MAX_SCALE 1e14f

#define SR_OK 0
#define SR_ERROR_ARGUMENT 1 /* a needed pointer is NULL, or dim or k is out of range */
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

/* The score of every row: -> scores[n_rows]. */
SR_API int sr_scan_i8(const int8_t* codes, const float* scales, size_t n_rows, size_t dim,
                      const int8_t* query, float query_scale, float* scores);

/* The k best rows, by score descending and, at equal score, by row number ascending, in one pass.
 *
 * Bit i of mask (least significant bit of byte i / 8 first) says whether row i may be returned;
 * NULL allows all. rows[k] and scores[k] receive *n_found = min(k, rows allowed) entries; entries
 * beyond that are unspecified. 0 <= k <= SR_MAX_K.
 */
SR_API int sr_topk_i8(const int8_t* codes, const float* scales, size_t n_rows, size_t dim,
                      const int8_t* query, float query_scale, const uint8_t* mask, size_t k,
                      int64_t* rows, float* scores, size_t* n_found);

#ifdef __cplusplus
}
#endif

#endif
