"""Score cards: whole points for few yes-or-no columns, proved best, with the questions that make such columns.

`problem` states what is solved, `proving` searches and proves, `certificate` keeps the proof; `thresholds` makes the columns,
`risk_score` is the estimator, and `card_page` prints the card.
"""
