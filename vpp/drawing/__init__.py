"""Cards, tables and charts of the pages, as escaped HTML and Plotly figures."""
