#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Writes tests/data/hdf5/places: files that lead to others (links, virtual datasets, external
# storage), inside and outside of their folder, broken in every way. What h5py reads of those that are
# whole is written by make_hdf5.py. Run in tests/data.
import os
import h5py
import numpy as np
from h5py import h5d, h5p, h5s, h5t

LONG = "n" * 3000

# What is whole and inside of the folder.
GOOD = {
    "links.h5": ["data", "g/inner", "g/rel", "to_group/inner", "circle/back/circle/back/data",
                 "chain", "ext_in_sub", "ext_in_sub_soft", "ext_own", "odd/  lead", "odd/trail  ",
                 "odd/a\nb", "odd/a:b", "odd/%b", "odd/...", "odd/\u00e9\u4e2d"],
    "deep.h5": ["d/" * 300 + "end"],
    "virtual.h5": ["own", "in_sub", "percent", "nested", "link_in", "part", "series", "series_sets",
                   "grows", "external"],
    "external.h5": ["in_sub", "parts", "larger", "unlimited"],
}


def small(path, **sets):
    with h5py.File(path, "w", libver="latest") as f:
        for name, data in sets.items():
            f[name] = data


def links():
    with h5py.File("sub/target.h5", "w", libver="latest") as f:
        f["t"] = np.arange(4, dtype="f8")
        f["soft"] = h5py.SoftLink("/t")
        f["onward"] = h5py.ExternalLink("../../out/target.h5", "/t")
        f["back"] = h5py.ExternalLink("../links.h5", "/there")
    small("../out/target.h5", t=np.zeros(2))
    open("sub/not.h5", "w").write("no HDF5 at all\n")
    with h5py.File("links.h5", "w") as f:
        f["data"] = np.arange(4, dtype="f8")
        f["g/inner"] = np.arange(3, dtype="i4")
        f["g/rel"] = h5py.SoftLink("inner")
        f["g/up"] = h5py.SoftLink("../data")
        f["to_group"] = h5py.SoftLink("/g")
        f["type"] = np.dtype("f4")
        f["empty_group"] = np.dtype("f4")
        del f["empty_group"]
        f.create_group("empty_group")
        f["circle/back"] = f["/"]
        for name, (file, target) in {
            "in_sub": ("sub/target.h5", "/t"), "in_sub_soft": ("sub/target.h5", "soft"),
            "own": ("links.h5", "/data"), "out": ("../out/target.h5", "/t"),
            "root": ("/etc/passwd", "/t"), "gone": ("none.h5", "/t"),
            "no_object": ("sub/target.h5", "/nope"), "no_hdf5": ("sub/not.h5", "/t"),
            "folder": ("sub", "/t"), "onward": ("sub/target.h5", "/onward"),
            "itself": ("links.h5", "/ext_itself"), "there": ("sub/target.h5", "/back"),
        }.items():
            f["ext_" + name] = h5py.ExternalLink(file, target)
        f["user/defined"] = h5py.ExternalLink("sub", "/t")
        f["there"] = h5py.ExternalLink("sub/target.h5", "/back")
        for a, b in {"chain": "/chain2", "chain2": "chain3", "chain3": "/g/rel", "lost": "/lost2",
                     "lost2": "/nowhere", "self": "/self", "a": "/b", "b": "/a",
                     "by_self": "/by_self/x"}.items():
            f[a] = h5py.SoftLink(b)
        for name in ["  lead", "trail  ", "a\nb", "a:b", "%b", "...", "\u00e9\u4e2d", LONG]:
            f["odd/" + name] = np.arange(2, dtype="i2")
        f["odd"][b"latin\xe9"] = f["data"]
    with h5py.File("deep.h5", "w", libver="latest") as f:
        deep = f
        for i in range(300):
            deep = deep.create_group("d")
        deep["end"] = np.arange(2, dtype="u1")
    # No class of links but the library's own two can be made from Python: change a link's class.
    raw = bytearray(open("links.h5", "rb").read())
    at = raw.index(b"defined")
    assert raw[at - 2] == 64
    raw[at - 2] = 100
    open("links.h5", "wb").write(raw)


def virtual(f, name, maps, shape, maxshape=None, dtype="f8", fill=None):
    """maps: (virtual selection, file, dataset, source selection, source shape)"""
    create = h5p.create(h5p.DATASET_CREATE)
    if fill is not None:
        create.set_fill_value(np.array([fill], dtype))
    for to, file, dataset, source, source_shape in maps:
        vspace = h5s.create_simple(shape, maxshape or shape)
        if to is not None:
            vspace.select_hyperslab(*to)
        sspace = h5s.create_simple(source_shape, tuple([h5s.UNLIMITED] * len(source_shape)))
        if source is not None:
            sspace.select_hyperslab(*source)
        create.set_virtual(vspace, file.encode(), dataset.encode(), sspace)
    h5d.create(f.id, name.encode(), h5t.py_create(np.dtype(dtype)),
               h5s.create_simple(shape, maxshape or shape), create)


def virtuals():
    u = h5s.UNLIMITED
    small("sub/src.h5", d=np.arange(6, dtype="f8"), d2=np.arange(6, dtype="f8").reshape(2, 3))
    small("sub/a%b.h5", d=np.arange(6, dtype="f8"))
    small("../out/src.h5", d=np.arange(6, dtype="f8"))
    for i in (0, 1, 2):
        small(f"series_{i}.h5", d=np.arange(4, dtype="f8") + 10 * i)
    for i in (0, 2):
        small(f"gap_{i}.h5", d=np.arange(4, dtype="f8") + 10 * i)
    small("sub/blocks.h5", **{f"b{i}": np.arange(4, dtype="f8") - i for i in range(3)})
    with h5py.File("sub/nested.h5", "w", libver="latest") as f:
        virtual(f, "v", [(None, "src.h5", "/d", None, (6,))], (6,))
        virtual(f, "out", [(None, "../../out/src.h5", "/d", None, (6,))], (6,))
        virtual(f, "gone", [(None, "none.h5", "/d", None, (6,))], (6,))
        f["link_out"] = h5py.ExternalLink("../../out/src.h5", "/d")
        f["link_in"] = h5py.ExternalLink("src.h5", "/d")
    with h5py.File("virtual.h5", "w", libver="latest") as f:
        f["data"] = np.arange(6, dtype="f8") + 0.5
        one = lambda file, dataset, n=6: [(None, file, dataset, None, (n,))]
        virtual(f, "own", one(".", "/data"), (6,))
        virtual(f, "in_sub", one("sub/src.h5", "/d"), (6,))
        virtual(f, "out", one("../out/src.h5", "/d"), (6,))
        virtual(f, "root", one("/etc/passwd", "/d"), (6,))
        virtual(f, "gone", one("none.h5", "/d"), (6,))
        virtual(f, "no_set", one("sub/src.h5", "/nope"), (6,))
        virtual(f, "group", one("sub/src.h5", "/"), (6,))
        virtual(f, "folder", one("sub", "/d"), (6,))
        virtual(f, "no_hdf5", one("sub/not.h5", "/d"), (6,))
        virtual(f, "percent", one("sub/a%%b.h5", "/d"), (6,))
        virtual(f, "nested", one("sub/nested.h5", "/v"), (6,))
        virtual(f, "nested_out", one("sub/nested.h5", "/out"), (6,))
        virtual(f, "nested_gone", one("sub/nested.h5", "/gone"), (6,))
        virtual(f, "link_in", one("sub/nested.h5", "/link_in"), (6,))
        virtual(f, "link_out", one("sub/nested.h5", "/link_out"), (6,))
        virtual(f, "itself", one(".", "/itself"), (6,))
        virtual(f, "short_all", one("sub/src.h5", "/d", 10), (10,))
        virtual(f, "short", [(((0,), (10,)), "sub/src.h5", "/d", ((0,), (10,)), (10,))], (10,))
        virtual(f, "ranks", [(((0,), (6,)), "sub/src.h5", "/d2", ((0,), (6,)), (6,))], (6,))
        virtual(f, "part", [(((2,), (3,)), "sub/src.h5", "/d", ((1,), (3,)), (6,))], (8,), fill=-1)
        virtual(f, "mixed", [(((0, 0), (1, 6)), "sub/src.h5", "/d", ((0,), (6,)), (6,)),
                             (((1, 0), (1, 6)), "none.h5", "/d", ((0,), (6,)), (6,))], (2, 6))
        series = lambda file, dataset: [(((0,), (u,), (4,), (4,)), file, dataset, None, (4,))]
        virtual(f, "series", series("series_%b.h5", "/d"), (12,), (u,))
        virtual(f, "series_sets", series("sub/blocks.h5", "/b%b"), (12,), (u,))
        virtual(f, "series_gap", series("gap_%b.h5", "/d"), (12,), (u,))
        virtual(f, "series_none", series("nope_%b.h5", "/d"), (12,), (u,))
        virtual(f, "grows", [(((0,), (1,), (1,), (u,)), "sub/src.h5", "/d",
                              ((0,), (1,), (1,), (u,)), (6,))], (0,), (u,))


def externals():
    np.arange(6, dtype="<f4").tofile("sub/raw.bin")
    np.arange(6, dtype="<f4").tofile("../out/raw.bin")
    np.arange(3, dtype="<f4").tofile("sub/short.bin")
    with h5py.File("external.h5", "w") as f:
        for name, parts in {
            "in_sub": [("sub/raw.bin", 0, 24)],
            "parts": [("sub/raw.bin", 12, 12), ("sub/short.bin", 0, 12)],
            "larger": [("sub/raw.bin", 0, 400)],
            "unlimited": [("sub/raw.bin", 0, h5py.h5f.UNLIMITED)],
            "out": [("../out/raw.bin", 0, 24)],
            "root": [("/etc/passwd", 0, 24)],
            "gone": [("none.bin", 0, 24)],
            "folder": [("sub", 0, 24)],
            "short": [("sub/short.bin", 0, 24)],
            "short_unlimited": [("sub/short.bin", 0, h5py.h5f.UNLIMITED)],
            "behind": [("sub/raw.bin", 100, 24)],
        }.items():
            create = h5p.create(h5p.DATASET_CREATE)
            for file, offset, size in parts:
                create.set_external(file.encode(), offset, size)
            h5d.create(f.id, name.encode(), h5t.IEEE_F32LE, h5s.create_simple((6,)), create)
    with h5py.File("virtual.h5", "a", libver="latest") as f:
        virtual(f, "external", [(None, "external.h5", "/in_sub", None, (6,))], (6,), dtype="f4")
        virtual(f, "external_out", [(None, "external.h5", "/out", None, (6,))], (6,), dtype="f4")


def drivers():
    """The files that tell which driver wrote them; the others are left out."""
    with h5py.File("family%d.h5", "w", driver="family", memb_size=1024) as f:
        f["d"] = np.arange(300.0)
    for i in range(1, 20):
        if os.path.exists(f"family{i}.h5"):
            os.remove(f"family{i}.h5")
    access = h5p.create(h5p.FILE_ACCESS)
    access.set_fapl_split(b"-m.h5", h5p.create(h5p.FILE_ACCESS), b"-r.h5",
                          h5p.create(h5p.FILE_ACCESS))
    with h5py.File(h5py.h5f.create(b"split", h5py.h5f.ACC_TRUNC, fapl=access)) as f:
        f["d"] = np.arange(3.0)
    os.remove("split-r.h5")


if __name__ == "__main__":
    os.makedirs("hdf5/places/in/sub", exist_ok=True)
    os.makedirs("hdf5/places/out", exist_ok=True)
    os.chdir("hdf5/places/in")
    links()
    virtuals()
    externals()
    drivers()
