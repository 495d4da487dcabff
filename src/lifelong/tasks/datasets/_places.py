"""Moved to :mod:`lifelong._places`; this name stays until encoders and nets import that one."""

from lifelong._places import cache_dir as cache_dir
