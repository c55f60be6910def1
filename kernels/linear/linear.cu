// SPDX-License-Identifier: Apache-2.0
// Second moments on a GPU: the steps around the matrix product of slices, which is cuBLAS's. See
// moments.h for why nothing rounds; moments_cpu.c does the same with as many slices as needed.
#include "kernels/linear/linear_kernels.h"

#include <cuda_fp16.h>

namespace
{

enum { LEAST = -800, MOST = 900, NOTHING = -100000 }; // as in moments_cpu.c; no value but 0

__device__ double number(int dtype, const void *data, int64_t i)
{
    switch (dtype) {
    case PS_F64:
        return static_cast<const double *>(data)[i];
    case PS_F32:
        return static_cast<const float *>(data)[i];
    case PS_F16:
        return __half2float(static_cast<const __half *>(data)[i]);
    case PS_I64:
        return double(static_cast<const int64_t *>(data)[i]);
    case PS_U64:
        return double(static_cast<const uint64_t *>(data)[i]);
    case PS_I32:
        return static_cast<const int32_t *>(data)[i];
    case PS_U32:
        return static_cast<const uint32_t *>(data)[i];
    case PS_I16:
        return static_cast<const int16_t *>(data)[i];
    case PS_U16:
        return static_cast<const uint16_t *>(data)[i];
    case PS_I8:
        return static_cast<const int8_t *>(data)[i];
    default:
        return static_cast<const uint8_t *>(data)[i];
    }
}

// The source of a column and its place there; the ones have dtype -1.
struct column {
    int dtype;
    const void *data;
    int64_t own, step;
};

__device__ column find_column(const ps_moments_job &job, int64_t index)
{
    for (int s = 0; s < job.m.source_count; s++) {
        if (index < job.m.columns[s])
            return {job.m.dtypes[s], job.data[s], index, job.m.columns[s]};
        index -= job.m.columns[s];
    }
    return {-1, nullptr, 0, 0};
}

__device__ double value_at(const column &c, int64_t row)
{
    return c.dtype < 0 ? 1.0 : number(c.dtype, c.data, row * c.step + c.own);
}

__device__ bool is_wide(const column &c)
{
    return c.dtype == PS_I64 || c.dtype == PS_U64;
}

__device__ ps_exact_parts parts_of(double value)
{
    ps_exact_parts none = {0, 0, false};
    return ps_moments_is_finite(value) ? ps_moments_odd(ps_exact_split(value)) : none;
}

__device__ ps_exact_parts parts_at(const column &c, int64_t row)
{
    if (!is_wide(c))
        return parts_of(value_at(c, row));
    const uint64_t bits = static_cast<const uint64_t *>(c.data)[row * c.step + c.own];
    ps_exact_parts parts = {bits, 0, c.dtype == PS_I64 && bits >> 63 != 0};
    if (parts.negative)
        parts.mantissa = 0 - bits;
    return ps_moments_odd(parts);
}

// A block of 32 x 8 threads takes 32 columns; neighbouring threads read neighbouring columns.
__global__ void look(ps_moments_job job)
{
    __shared__ double most[8][32];
    const int64_t index = int64_t(blockIdx.x) * 32 + threadIdx.x;
    double largest = 0;
    if (index < job.m.width) {
        const column c = find_column(job, index);
        for (int64_t row = threadIdx.y; row < job.rows; row += 8) {
            const double value = fabs(value_at(c, row));
            if (ps_moments_is_finite(value) && value > largest)
                largest = value;
        }
    }
    most[threadIdx.y][threadIdx.x] = largest;
    __syncthreads();
    if (threadIdx.y > 0 || index >= job.m.width)
        return;
    for (int i = 1; i < 8; i++)
        largest = most[i][threadIdx.x] > largest ? most[i][threadIdx.x] : largest;
    int exponent = NOTHING;
    if (largest > 0)
        frexp(largest, &exponent);
    job.exponents[index] = is_wide(find_column(job, index)) ? 3 * PS_MOMENTS_BITS : exponent;
}

__device__ void flag(const ps_moments_job &job, int64_t row, int64_t index, double value)
{
    int64_t *flags = ps_moments_flags(job.state);
    const int64_t own = ps_moments_pair(&job.m, index, index);
    if (value != value && (flags[own] & PS_MOMENTS_NAN) != 0)
        return; // a NaN has made all pairs of the column NaN, or is doing so
    for (int64_t other = 0; other < job.m.width; other++) {
        const int64_t more = ps_moments_flag(value, value_at(find_column(job, other), row));
        if (more != 0)
            atomicOr(reinterpret_cast<unsigned long long *>(
                         &flags[ps_moments_pair(&job.m, index, other)]),
                     static_cast<unsigned long long>(more));
    }
}

// 64-bit whole numbers: x = high * 2^44 + middle * 2^22 + low, the two last never negative.
__device__ void slice_wide(const ps_moments_job &job, const column &c, int64_t row, double *whole)
{
    const uint64_t bits = static_cast<const uint64_t *>(c.data)[row * c.step + c.own];
    const bool is_signed = c.dtype == PS_I64;
    for (int s = 0; s < job.slices; s++) {
        const int shift = (2 - s) * PS_MOMENTS_BITS;
        uint64_t part = shift >= 0 ? bits >> shift : 0; // f64 beside it has more slices
        if (s > 0)
            part &= (uint64_t(1) << PS_MOMENTS_BITS) - 1;
        else if (is_signed && bits >> 63 != 0)
            part |= ~(UINT64_MAX >> shift);
        whole[s * PS_MOMENTS_ROWS] = is_signed ? double(int64_t(part)) : double(part);
    }
}

// The steps of slice_column in moments_cpu.c. Returns the rest.
__device__ double slice_value(const ps_moments_job &job, double value, int exponent, double *whole)
{
    const int by = exponent > MOST ? -exponent : exponent < LEAST ? 200 : 0;
    double rest = 0;
    if (exponent > MOST && fabs(value) < ps_exact_power(exponent - 200)) {
        rest = value;
        value = 0;
    }
    value = scalbn(value, by);
    for (int s = 0; s < job.slices; s++) {
        const int unit = exponent + by - (s + 1) * PS_MOMENTS_BITS;
        const double turn = 1.5 * ps_exact_power(unit + 52);
        const double part = (value + turn) - turn;
        value -= part;
        whole[s * PS_MOMENTS_ROWS] = part * ps_exact_power(-unit);
    }
    return rest + scalbn(value, -by); // one of the two is 0
}

__global__ void slice(ps_moments_job job)
{
    const int64_t count = job.m.width * job.rows, threads = int64_t(gridDim.x) * blockDim.x;
    for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += threads) {
        const int64_t index = i / job.rows, row = i % job.rows;
        const column c = find_column(job, index);
        const int exponent = job.exponents[index];
        double *whole = job.whole + index * job.slices * PS_MOMENTS_ROWS + row;
        double rest = 0;
        if (is_wide(c)) {
            slice_wide(job, c, row, whole);
        } else {
            const double value = value_at(c, row);
            const bool finite = ps_moments_is_finite(value);
            if (!finite)
                flag(job, row, index, value);
            if (exponent == NOTHING)
                for (int s = 0; s < job.slices; s++)
                    whole[s * PS_MOMENTS_ROWS] = 0;
            else
                rest = slice_value(job, finite ? value : 0, exponent, whole);
        }
        job.rests[index * PS_MOMENTS_ROWS + row] = rest;
    }
}

// x_j x_k - h_j h_k = r_j x_k + h_j r_k, where x = h + r, h in slices and r the rest.
__global__ void add_rests(ps_moments_job job)
{
    const int64_t count = job.m.width * job.rows, threads = int64_t(gridDim.x) * blockDim.x;
    for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += threads) {
        const int64_t j = i / job.rows, row = i % job.rows;
        const double rest = job.rests[j * PS_MOMENTS_ROWS + row];
        if (rest == 0)
            continue;
        const ps_exact_parts r = parts_of(rest);
        for (int64_t k = 0; k < job.m.width; k++) {
            const column c = find_column(job, k);
            int64_t *limbs = ps_moments_limbs(&job.m, job.state, ps_moments_pair(&job.m, j, k));
            const double other = job.rests[k * PS_MOMENTS_ROWS + row];
            const ps_exact_parts x = parts_at(c, row);
            if (k >= j)
                ps_moments_add_product(limbs, job.m.low, r, x);
            if (k <= j)
                ps_moments_add_product(limbs, job.m.low,
                                       other == 0 ? x : parts_of(value_at(c, row) - other), r);
        }
    }
}

// One thread for each pair of columns of two panels.
__global__ void flush(ps_moments_job job)
{
    const int64_t count = job.firsts * job.seconds, threads = int64_t(gridDim.x) * blockDim.x;
    for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += threads) {
        const int64_t a = i % job.firsts, b = i / job.firsts;
        const int64_t j = job.first + a, k = job.second + b;
        if (j > k)
            continue;
        int64_t *limbs = ps_moments_limbs(&job.m, job.state, ps_moments_pair(&job.m, j, k));
        for (int t = 0; t < job.slices; t++)
            for (int s = 0; s < job.slices; s++) {
                const int64_t at = (b * job.slices + t) * job.stride + a * job.slices + s;
                const int64_t whole = int64_t(job.products[at]);
                const int position =
                    job.exponents[j] + job.exponents[k] - (s + t + 2) * PS_MOMENTS_BITS - job.m.low;
                if (whole != 0)
                    ps_moments_add_whole(limbs, position, whole);
            }
    }
}

__global__ void count_rows(ps_moments m, void *state, int64_t rows)
{
    const int64_t threads = int64_t(gridDim.x) * blockDim.x;
    const int64_t first = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    for (int64_t pair = first; pair < m.pairs; pair += threads)
        ps_exact_carry(ps_moments_limbs(&m, state, pair), 1, m.limbs);
    if (first == 0)
        static_cast<ps_moments_head *>(state)->rows += rows;
}

__global__ void project(int dtype, const void *in, int64_t rows, int64_t columns,
                        const double *__restrict__ fit, int64_t count, double *__restrict__ out)
{
    const int64_t total = rows * count, threads = int64_t(gridDim.x) * blockDim.x;
    for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < total; i += threads) {
        const int64_t row = i / count, c = i % count;
        double sum = 0;
        for (int64_t j = 0; j < columns; j++)
            sum = __fma_rn(number(dtype, in, row * columns + j) - fit[j],
                           fit[columns + j * count + c], sum);
        out[i] = sum;
    }
}

unsigned grid_for(int64_t count)
{
    const int64_t blocks = (count + 127) / 128;
    return blocks < 1 ? 1u : blocks < 16384 ? unsigned(blocks) : 16384u;
}

} // namespace

extern "C" cudaError_t ps_moments_look(const struct ps_moments_job *job, cudaStream_t stream)
{
    look<<<unsigned((job->m.width + 31) / 32), dim3(32, 8), 0, stream>>>(*job);
    return cudaGetLastError();
}

extern "C" cudaError_t ps_moments_slice(const struct ps_moments_job *job, cudaStream_t stream)
{
    slice<<<grid_for(job->m.width * job->rows), 128, 0, stream>>>(*job);
    return cudaGetLastError();
}

extern "C" cudaError_t ps_moments_rest(const struct ps_moments_job *job, cudaStream_t stream)
{
    add_rests<<<grid_for(job->m.width * job->rows), 128, 0, stream>>>(*job);
    return cudaGetLastError();
}

extern "C" cudaError_t ps_moments_flush(const struct ps_moments_job *job, cudaStream_t stream)
{
    flush<<<grid_for(job->firsts * job->seconds), 128, 0, stream>>>(*job);
    return cudaGetLastError();
}

extern "C" cudaError_t ps_moments_count(const struct ps_moments *m, void *state, int64_t rows,
                                        cudaStream_t stream)
{
    count_rows<<<grid_for(m->pairs), 128, 0, stream>>>(*m, state, rows);
    return cudaGetLastError();
}

extern "C" cudaError_t ps_moments_project(int dtype, const void *in, int64_t rows, int64_t columns,
                                          const double *fit, int64_t count, double *out,
                                          cudaStream_t stream)
{
    project<<<grid_for(rows * count), 128, 0, stream>>>(dtype, in, rows, columns, fit, count, out);
    return cudaGetLastError();
}
