"""Paper: its claims beside what was measured, and where it contradicts itself."""

from pages.parts import blocks, frame
from vpp.bench.tables import claims, inconsistencies, paper
from vpp.show import markup

frame.enter()
blocks.draw(markup.title("Paper", f"by {paper()['authors']}", of=paper()["title"]))
blocks.draw(*claims())
blocks.draw(*inconsistencies())
