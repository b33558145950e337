"""The scorers, a module for each family; `symbouq.evidence.scorers.registry` finds them.

To add one, write a subclass of `Scorer` in the module of its family, or in a new one for a new
family: it says its `name`, its `family`, what it `needs`, the `orientation` of its values, whether
it is `banked`, a candidate of the composer, and works the values out in `values`. A network is a
subclass of `Learned` that builds it in `build`. Nothing else has to know of it.
"""
