"""Text as sparse features, block by block."""

from __future__ import annotations

from typing import Any

from scipy import sparse

from .._validation import import_optional
from .reading import is_dask

N_FEATURES = 2**18


def hash_text(texts: Any, n_features: int = N_FEATURES, **options: Any) -> Any:
    """Samples of hashed words for ``fit`` and ``predict``: no vocabulary has to be gathered first.

    Parameters
    ----------
    texts : dask Series, bag or array of str
        A text for each sample.
    n_features : int
        Number of columns; words that share one by chance are few if there are many more columns than frequent words.
    **options
        Of :class:`sklearn.feature_extraction.text.HashingVectorizer`, such as ``ngram_range``.

    Returns
    -------
    dask array of CSR blocks
        Of shape (n_samples, n_features), rows of length one.

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> import pandas as pd
    >>> from semisvm import parallel
    >>> texts = dd.from_pandas(pd.Series(["good film", "bad film", "good"]), npartitions=2)
    >>> parallel.hash_text(texts, n_features=1024).compute().shape
    (3, 1024)
    """
    dask = import_optional("dask", "dask", "semisvm.parallel.hash_text")
    da = import_optional("dask.array", "dask", "semisvm.parallel.hash_text")
    if not is_dask(texts) or getattr(texts, "ndim", 1) != 1:
        raise ValueError(
            f"texts is of type {type(texts).__name__}; allowed are a dask Series, bag or array with one text per "
            "sample. Pick the column of a DataFrame, as in frame['text']."
        )
    read = dask.delayed(_hashed, pure=True)
    meta = sparse.csr_array((0, n_features))
    parts = texts.to_delayed()
    blocks = [read(part, n_features, options) for part in getattr(parts, "ravel", lambda: parts)()]
    return da.concatenate([da.from_delayed(block, (float("nan"), n_features), meta=meta) for block in blocks])


def _hashed(texts: Any, n_features: int, options: dict[str, Any]) -> sparse.csr_array:
    """The features of some texts."""
    from sklearn.feature_extraction.text import HashingVectorizer

    reader = HashingVectorizer(**({"n_features": n_features, "alternate_sign": False} | options))
    return sparse.csr_array(reader.transform(["" if _is_missing(text) else str(text) for text in texts]))


def _is_missing(text: Any) -> bool:
    return text is None or type(text).__name__ == "NAType" or (isinstance(text, float) and text != text)
