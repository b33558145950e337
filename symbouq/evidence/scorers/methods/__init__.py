"""The scorers, a module for each family; `symbouq.evidence.scorers.registry` finds them.

To add one, write a module here with a subclass of `Scorer` that says its `name`, its `family`, what
it `needs`, the `orientation` of its values, and works them out in `values`. A network is a subclass
of `Learned` that builds it in `build`. Nothing else has to know of it.
"""
