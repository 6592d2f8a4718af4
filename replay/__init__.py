"""History through the live engine: scenarios, backtests, explanations. Never deployed."""
