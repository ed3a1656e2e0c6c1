"""What a residual analysis means, in plain words; for the terminal and for pages."""

from prssm.prediction.residuals import Residuals, p_in_words


def in_words(residuals: Residuals | str) -> list[str]:
    """One sentence on whiteness and, where there are inputs, one on independence of them.

    A text is why there are no residuals.
    """
    if isinstance(residuals, str):
        return [f"Errors one step ahead were not analysed: {residuals}."]
    numbers = residuals.to_dict()
    largest = numbers["residual_largest_autocorrelation"]
    p = p_in_words(numbers["residual_whiteness_p"])
    told = [
        f"Errors one step ahead are white ({p}, largest autocorrelation {largest:.2f})."
        if residuals.white
        else f"Errors one step ahead are not white ({p}, largest autocorrelation {largest:.2f}): "
        "the past still tells something that the model does not use."
    ]
    if "residual_independence_p" in numbers:
        largest = numbers["residual_largest_cross_correlation"]
        p = p_in_words(numbers["residual_independence_p"])
        told.append(
            f"They are independent of the inputs ({p}, largest correlation {largest:.2f})."
            if residuals.independent
            else f"They depend on the inputs ({p}, largest correlation {largest:.2f}): the "
            "dynamics from input to output are not all learnt."
        )
    return told
