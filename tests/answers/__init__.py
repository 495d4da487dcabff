"""Many small cases whose answers must not change, whatever becomes of the code behind them.

``rows``
    The tasks: numpy and fixed seeds, nothing of lifelong's.
``learners``
    Kinds of learners and their settings.
``lives``
    What happens to a learner, step by step.
``recording``
    What a learner is asked after each step.
``cases``
    Which kind leads which life with which settings.
``files``
    Answers in files, and where they differ.

``benchmarks/same_answers.py`` writes all answers of one checkout and compares them with those of
another, bit for bit. ``tests/test_same_answers_as_before.py`` compares some of them with those of
commit c4c0343, which lie here in ``c4c0343.npz``. Only public names of lifelong are used.
"""
