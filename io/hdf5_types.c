// SPDX-License-Identifier: Apache-2.0
// Numbers of HDF5 and dtypes: which stored type is which dtype, and the types to read and write
// with.
#include "io/hdf5_common.h"

static hid_t half_type(void)
{
    // IEEE 754 binary16 out of binary32: sign 15, exponent 10..14, fraction 0..9, bias 15.
    hid_t type = H5Tcopy(H5T_NATIVE_FLOAT);
    if (type >= 0 && (H5Tset_fields(type, 15, 10, 5, 0, 10) < 0 || H5Tset_size(type, 2) < 0 ||
                      H5Tset_ebias(type, 15) < 0)) {
        H5Tclose(type);
        return -1;
    }
    return type;
}

static hid_t bool_type(void)
{
    hid_t type = H5Tenum_create(H5T_NATIVE_INT8);
    signed char no = 0, yes = 1;
    if (type >= 0 &&
        (H5Tenum_insert(type, "FALSE", &no) < 0 || H5Tenum_insert(type, "TRUE", &yes) < 0)) {
        H5Tclose(type);
        return -1;
    }
    return type;
}

hid_t ps_hdf5_type(enum ps_dtype dtype)
{
    switch (dtype) {
    case PS_BOOL:
        return bool_type();
    case PS_I8:
        return H5Tcopy(H5T_NATIVE_INT8);
    case PS_I16:
        return H5Tcopy(H5T_NATIVE_INT16);
    case PS_I32:
        return H5Tcopy(H5T_NATIVE_INT32);
    case PS_I64:
        return H5Tcopy(H5T_NATIVE_INT64);
    case PS_U8:
        return H5Tcopy(H5T_NATIVE_UINT8);
    case PS_U16:
        return H5Tcopy(H5T_NATIVE_UINT16);
    case PS_U32:
        return H5Tcopy(H5T_NATIVE_UINT32);
    case PS_U64:
        return H5Tcopy(H5T_NATIVE_UINT64);
    case PS_F16:
        return half_type();
    case PS_F32:
        return H5Tcopy(H5T_NATIVE_FLOAT);
    default:
        return H5Tcopy(H5T_NATIVE_DOUBLE);
    }
}

static bool integer_dtype(hid_t type, enum ps_dtype *dtype)
{
    static const enum ps_dtype signeds[] = {PS_I8, PS_I16, PS_I32, PS_I64};
    static const enum ps_dtype unsigneds[] = {PS_U8, PS_U16, PS_U32, PS_U64};
    size_t bytes = H5Tget_size(type);
    for (int i = 0; i < 4; i++) {
        if (bytes <= (size_t)1 << i) { // odd widths (3 bytes) go to the next wider
            *dtype = H5Tget_sign(type) == H5T_SGN_NONE ? unsigneds[i] : signeds[i];
            return true;
        }
    }
    return false;
}

// The narrowest dtype that holds all values: bfloat16 has two bytes, but needs f32.
static bool float_dtype(hid_t type, enum ps_dtype *dtype)
{
    size_t sign, exponent, exponent_bits, fraction, fraction_bits;
    if (H5Tget_fields(type, &sign, &exponent, &exponent_bits, &fraction, &fraction_bits) < 0)
        return false;
    *dtype = exponent_bits <= 5 && fraction_bits <= 10   ? PS_F16
             : exponent_bits <= 8 && fraction_bits <= 23 ? PS_F32
                                                         : PS_F64;
    return true;
}

bool ps_hdf5_is_wide(hid_t type)
{
    size_t sign, exponent, exponent_bits, fraction, fraction_bits;
    return H5Tget_class(type) == H5T_FLOAT &&
           H5Tget_fields(type, &sign, &exponent, &exponent_bits, &fraction, &fraction_bits) >= 0 &&
           (exponent_bits > 11 || fraction_bits > 52);
}

static bool member_is(hid_t type, const char *name, signed char wanted)
{
    signed char value = -1;
    int index = H5Tget_member_index(type, name);
    return index >= 0 && H5Tget_member_value(type, (unsigned)index, &value) >= 0 && value == wanted;
}

// h5py's bool: an enum of one byte with the members FALSE (0) and TRUE (1).
static bool is_bool(hid_t type)
{
    return H5Tget_size(type) == 1 && H5Tget_nmembers(type) == 2 && member_is(type, "FALSE", 0) &&
           member_is(type, "TRUE", 1);
}

static const char *class_name(H5T_class_t class)
{
    switch (class) {
    case H5T_STRING:
        return "text";
    case H5T_COMPOUND:
        return "compound (several members per element)";
    case H5T_REFERENCE:
        return "references";
    case H5T_VLEN:
        return "of variable length";
    case H5T_ARRAY:
        return "small arrays per element";
    case H5T_OPAQUE:
        return "opaque bytes";
    case H5T_TIME:
        return "HDF5 times";
    default:
        return "of a type that is no number";
    }
}

bool ps_hdf5_dtype(hid_t type, enum ps_dtype *dtype_out, hid_t *memory_out, const char **what_out)
{
    H5T_class_t class = H5Tget_class(type);
    *what_out = class_name(class);
    if (class == H5T_INTEGER) {
        *what_out = "integers of more than 8 bytes";
        if (!integer_dtype(type, dtype_out))
            return false;
        *memory_out = ps_hdf5_type(*dtype_out);
    } else if (class == H5T_FLOAT) {
        *what_out = "floating point of an unknown layout";
        if (!float_dtype(type, dtype_out))
            return false;
        *memory_out = ps_hdf5_type(*dtype_out);
    } else if (class == H5T_BITFIELD) { // as unsigned numbers
        static const enum ps_dtype dtypes[] = {PS_U8, PS_U16, PS_U32, PS_U64};
        size_t bytes = H5Tget_size(type);
        int width = bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : bytes == 8 ? 3 : -1;
        *what_out = "bit fields of an odd width";
        if (width < 0)
            return false;
        *dtype_out = dtypes[width];
        const hid_t natives[] = {H5T_NATIVE_B8, H5T_NATIVE_B16, H5T_NATIVE_B32, H5T_NATIVE_B64};
        *memory_out = H5Tcopy(natives[width]);
    } else if (class == H5T_ENUM) {
        hid_t base = H5Tget_super(type);
        bool fine = base >= 0 && integer_dtype(base, dtype_out);
        if (base >= 0)
            H5Tclose(base);
        if (!fine)
            return false;
        // Plain integers: values without a name stay what they are.
        *memory_out = ps_hdf5_type(*dtype_out);
        if (is_bool(type))
            *dtype_out = PS_BOOL;
    } else {
        return false;
    }
    return *memory_out >= 0;
}

bool ps_hdf5_is_plain(hid_t type, enum ps_dtype dtype, bool *swapped_out)
{
    hid_t native = ps_hdf5_type(dtype);
    bool same = false;
    if (native < 0)
        return false;
    *swapped_out = false;
    if (H5Tget_class(type) == H5T_ENUM) { // one byte: bool, and i8 or u8 enums
        same = H5Tget_size(type) == 1;
    } else {
        same = H5Tequal(type, native) > 0;
        if (!same && H5Tget_size(native) > 1) {
            H5T_order_t order = H5Tget_order(native);
            H5Tset_order(native, order == H5T_ORDER_LE ? H5T_ORDER_BE : H5T_ORDER_LE);
            same = *swapped_out = H5Tequal(type, native) > 0;
        } else if (!same) { // bytes have no order, but the library says they have
            same = H5Tget_size(type) == 1 && H5Tget_sign(type) == H5Tget_sign(native) &&
                   H5Tget_precision(type) == 8 && H5Tget_offset(type) == 0;
        }
    }
    H5Tclose(native);
    return same;
}
