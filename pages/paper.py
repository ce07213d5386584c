"""Paper: its claims beside what was measured, and where it contradicts itself."""

from pages.parts import blocks, frame
from vpp.bench.tables import claims, inconsistencies, paper
from vpp.show import markup
from vpp.show.blocks import Heading, Table

frame.enter()
blocks.draw(markup.title("Paper", f"by {paper()['authors']}", of=paper()["title"]))
for each in (claims(), inconsistencies()):
    blocks.draw(Heading(each.title, each.note), Table(head=each.head, rows=each.rows))
