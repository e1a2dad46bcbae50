"""Rows of customers and days, either of which they may share."""

import polars as pl

# How far apart the classes are by either model, in standard deviations of a class.
APART = (1.8, 1.8)


def rows_of_both(rng, rows=600, customers=30, days=30, of_customer=0.2, of_day=0.2, apart=APART):
    """Scores of two models; customers and days have shares of their variance."""
    customer, day = rng.integers(0, customers, rows), rng.integers(0, days, rows)
    truth = rng.random(rows) < 0.5
    columns = {"truth": truth, "customer": customer, "day": day}
    for model, own in zip("AB", apart, strict=True):
        # A customer, or a day, has a share of its own of each class.
        of_customers = rng.normal(size=(2, customers))[truth.astype(int), customer]
        of_days = rng.normal(size=(2, days))[truth.astype(int), day]
        noise = (1 - of_customer - of_day) ** 0.5 * rng.normal(size=rows)
        shared = of_customer**0.5 * of_customers + of_day**0.5 * of_days
        columns[model] = own * truth + shared + noise
    return pl.DataFrame(columns).with_row_index("row")
