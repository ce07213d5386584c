"""The paper's experiments: tasks x methods x seeds as real runs, and tables beside the paper's."""
