"""The paper's experiments as a sweep: tasks x methods x seeds as runs, and tables next to the paper's values."""
