"""Short messages to a web shop, in three topics: plausible texts for examples, composed of phrases."""

from __future__ import annotations

import numpy as np

from .._validation import check_integer
from .randomness import random_generator

PROBLEMS = {
    "payment": [
        "I was charged twice for the same order",
        "the refund has not reached my bank account",
        "my card was declined although there is enough money on it",
        "the invoice shows the wrong amount",
        "I paid by transfer and still got a reminder",
        "the discount code was not subtracted from the price",
        "there is a fee on my bill that nobody mentioned",
        "I would like to pay in three installments",
        "please send me a receipt with the tax number",
        "my credit from last month is missing on the invoice",
        "the price at the checkout was higher than on the page",
        "you took the money before the order was confirmed",
    ],
    "delivery": [
        "the parcel was left at the wrong address",
        "my package has been in the same depot for a week",
        "the box arrived damaged and the lid was torn",
        "one of the two items is missing from the shipment",
        "the courier never rang the bell",
        "the tracking number does not work",
        "I need the order before the weekend",
        "the shelf came without the screws",
        "I would like to change the shipping address",
        "the driver handed the parcel to a neighbour I do not know",
        "nothing has arrived although it says delivered",
        "can the shipment be collected at the post office",
    ],
    "account": [
        "I cannot log in since the update",
        "the link to reset my password has expired",
        "the app crashes when I open my profile",
        "I no longer have access to my old e-mail",
        "the code for signing in never arrives",
        "someone else seems to have used my login",
        "my saved wish list is empty after the update",
        "please delete my profile and all my data",
        "the site says that my user name is taken",
        "I would like to change the e-mail of my profile",
        "the app keeps signing me out",
        "two profiles were created when I signed up",
    ],
}
OPENINGS = ["Hello,", "Hi,", "Good morning,", "Dear team,", "Hello again,", ""]
DETAILS = [
    "This started yesterday.",
    "It is the second time this month.",
    "I already wrote to you on Monday.",
    "The same happened to a friend of mine.",
    "I have been a customer for years.",
    "I tried it on my phone and on the computer.",
    "A screenshot is attached.",
    "Nobody answers the phone.",
    "",
]
CLOSINGS = ["Please help.", "What can I do?", "Thank you!", "Kind regards", "Please reply soon.", ""]


def make_messages(n_samples: int = 300, *, random_state: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Messages and their topics.

    Every topic has twelve problems, of which a message tells one or two; with few labels some problems are in no
    labeled message.

    Parameters
    ----------
    n_samples : int, default=300
        Number of messages.
    random_state : int or None, default=None
        For the choice of phrases.

    Returns
    -------
    texts : array of str objects
        The messages.
    y : array of str
        The topics: "payment", "delivery" or "account".

    Examples
    --------
    >>> from semisvm.datasets import make_messages
    >>> texts, y = make_messages(3, random_state=0)
    >>> len(texts), sorted(set(y.tolist()))
    (3, ['account', 'delivery', 'payment'])
    """
    n_samples = check_integer("n_samples", n_samples)
    rng = random_generator(random_state)
    topics = list(PROBLEMS)
    y = np.array([topics[i % len(topics)] for i in range(n_samples)])
    rng.shuffle(y)
    texts = []
    for topic in y:
        problems = PROBLEMS[str(topic)]
        first, second = rng.choice(len(problems), 2, replace=False)
        problem = problems[first] + (f", and {problems[second]}" if rng.random() < 0.35 else "")
        opening, detail, closing = (str(rng.choice(parts)) for parts in (OPENINGS, DETAILS, CLOSINGS))
        problem = problem if opening else problem[0].upper() + problem[1:]
        texts.append(" ".join(part for part in (opening, f"{problem}.", detail, closing) if part))
    return np.array(texts, dtype=object), y
