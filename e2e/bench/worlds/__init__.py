"""What benchmarks run in, and how they show a figure."""
