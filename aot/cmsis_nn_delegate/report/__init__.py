"""Reports what a compiled model costs, and why: `model_report.Report` as text and as JSON."""
