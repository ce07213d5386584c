"""What pages draw: cards, tables and charts, as escaped HTML and Plotly figures."""
