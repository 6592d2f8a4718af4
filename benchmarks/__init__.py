"""What is measured, not tested: detection scores and speed."""
