"""A web page of one file that shows what a compiled model costs: `render.render`."""
