"""Twenty words that tell two topics apart.

A bag of words has a column for each word of the vocabulary, nearly all entries are zero, and a list of words that
fits on a postcard is worth more than a weight for every word. The matrix stays sparse from the vectoriser to the
solver, and the classifier is a step of a pipeline like any other.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

import ellzero as ez

COOKING = "oven butter recipe onion simmer flour sauce garlic taste bowl heat minutes water fresh"
CYCLING = "bike gear wheel ride pedal brake climb saddle race helmet heat minutes water fresh"
TOPICS = {"cooking": COOKING.split(), "cycling": CYCLING.split()}


def documents(count: int, seed: int = 1) -> tuple[list[str], np.ndarray]:
    """Make texts of sixty words: mostly rare words that all texts share, some of their topic, one of the other."""
    rng = np.random.default_rng(seed)
    tail = np.array([f"w{number}" for number in range(8000)])
    frequency = 1.0 / np.arange(1, len(tail) + 1)
    frequency /= frequency.sum()
    topics = rng.choice(list(TOPICS), count)
    texts = []
    for topic in topics:
        (other,) = set(TOPICS) - {topic}
        words = [rng.choice(tail, 56, p=frequency), rng.choice(TOPICS[topic], 3), rng.choice(TOPICS[other], 1)]
        texts.append(" ".join(np.concatenate(words)))
    return texts, topics


def main(folder: Path, quick: bool = False) -> None:
    texts, topics = documents(600 if quick else 2000)
    train, test, y_train, y_test = train_test_split(texts, topics, random_state=0)

    few = make_pipeline(TfidfVectorizer(), ez.L0Classifier("squared_hinge", k=20, standardize=False)).fit(train, y_train)
    all_words = make_pipeline(TfidfVectorizer(), LogisticRegression(C=10.0)).fit(train, y_train)
    words, model = few[0].get_feature_names_out(), few[-1]
    print(f"{len(train)} texts, {len(words)} different words\n")
    for name, fitted in (("ellzero", few), ("ridge", all_words)):
        used = np.count_nonzero(fitted[-1].coef_)
        print(f"{name:>8}: {used:5d} words, accuracy on {len(test)} other texts {fitted.score(test, y_test):.1%}")

    order = model.support_[np.argsort(model.coef_[0, model.support_])]
    invented = [word for word in words[order] if word.startswith("w") and word[1:].isdigit()]
    print(f"\nwords of the model that belong to no topic: {len(invented)}")

    _, ax = plt.subplots(figsize=(7, 5), layout="constrained")
    values = model.coef_[0, order]
    ax.barh(words[order], values, color=np.where(values > 0, "C0", "C1"))
    ax.axvline(0.0, color="black", linewidth=0.8)
    ax.set_xlabel(f"weight: left speaks for {model.classes_[0]}, right for {model.classes_[1]}")
    plt.savefig(folder / "figure.png", dpi=110)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
