"""A reasoner for owlready2, in place of HermiT and Pellet, without Java.

``from kg_reasoner.owlready2 import sync_reasoner`` replaces owlready2's own:

>>> import owlready2
>>> from kg_reasoner.owlready2 import sync_reasoner
>>> world = owlready2.World()
>>> with world.get_ontology("http://example.org/zoo#") as zoo:
...     class Animal(owlready2.Thing): pass
...     class owns(owlready2.ObjectProperty): pass
...     class Owner(owlready2.Thing): equivalent_to = [owns.some(Animal)]
...     tom = Animal("tom")
...     ann = owlready2.Thing("ann", owns=[tom])
>>> found = sync_reasoner(world, debug=0)
>>> ann.__class__
zoo.Owner
>>> found.complete
False
>>> print(found.warnings[0].axiom)
EquivalentClasses(zoo:Owner ObjectSomeValuesFrom(zoo:owns zoo:Animal))

`attach` follows the changes of a World.
"""

from kg_reasoner.owlready2.following import Attached, attach
from kg_reasoner.owlready2.sync import Inferred, sync_reasoner, sync_reasoner_hermit, sync_reasoner_pellet

__all__ = ["Attached", "Inferred", "attach", "sync_reasoner", "sync_reasoner_hermit", "sync_reasoner_pellet"]
