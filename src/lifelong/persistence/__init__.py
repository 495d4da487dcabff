"""Saving learners: files that run no code, saves that survive a crash, loads that trust nothing.

A saved learner is a directory::

    manifest.json                        everything but arrays; its last line is its own SHA-256
    encoder-<sha256>.safetensors         one per encoder, complete in itself
    channel-<sha256>.safetensors         a task's channel (or densities) for one save's encoders
    rows-<sha256>.safetensors            stored rows of one task
    network-, values-<sha256>.safetensors   what references have learnt
    lock                                 held by the one writer (flock)

A file is named after its content and never changes; a save adds files, switches the manifest with
one rename, and then removes what nobody refers to. Readers take no lock.

One module, one idea, from the bottom up:

``text``
    Strict JSON; :class:`~lifelong.persistence.text.Unfit` for what does not fit, ``explained`` to
    say where.
``arrays``
    One file of arrays: ``pack(arrays, structure) → bytes``, ``unpack(buffer) → structure, arrays``
    (views, no copies).
``kinds``
    Descriptions of values (``Whole``, ``Array``, ``Record``, …) with ``pack(value, arrays, at) →
    JSON`` and ``unpack(JSON, arrays, at) → value``. They check everything; nothing in a file names
    a class.
``directory``
    ``Directory``: reading, mapping, writing, the lock, the switch. All writes go through ``os``
    there.
``known``
    Notes on objects that are saved already, by identity.
``forests``, ``networks``, ``hollow``, ``labels``, ``parameters``, ``channels``
    The kinds of things learners are made of. (``networks``, ``hollow``, ``multitask`` and
    ``references`` need torch and are imported when needed.)
``states``, ``parts``, ``encoders``, ``densities``, ``multitask``, ``references``
    Learnt attributes → nodes of the manifest and files: ``save(value, name, to)`` and ``load(node,
    name, loading)``.
``learners``
    The table of learners and what each has learnt (``states_of``). **A new learner, channel or
    attribute goes into ``learners``, ``channels`` or ``parameters``; the round-trip tests fail
    until it does.**
``manifest``, ``saving``, ``lazy``, ``store``, ``inspection``
    Whole learners: ``save``, ``load``, ``Store``, ``inspect``, ``verify``.
``exchange``, ``activations``, ``onnx_graph``
    An encoder alone, on its way to another learner (``export_encoder``, ``import_encoder``) or, as
    ONNX, to other programs. ``activations`` and ``onnx_graph`` need torch, the latter onnx as well.
"""

from lifelong.persistence.saving import load, save
from lifelong.persistence.store import Store

__all__ = ["Store", "load", "save"]
