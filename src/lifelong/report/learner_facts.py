"""What the report has to know of a learner, from the table of learners by the name in the spec.

The table is plain data: a report can be made where no learner could be. A name that the table does
not have (a run from elsewhere, or of a learner that is gone) is drawn as it is, without marks.
"""

from lifelong.experiments.registry import CONTROL, LEARNERS, Entry, split_budget
from lifelong.experiments.spec import LearnerSpec
from lifelong.experiments.tables import Results


def fact_sheet(learner: LearnerSpec, n_tasks: int) -> Entry | None:
    """The learner's entry; on a budget only if the stream is long enough to use it up."""
    family, in_name = split_budget(learner.name)
    entry = LEARNERS.get(family)
    budget = learner.parameters.get("budget", in_name)
    if entry is not None and budget is not None and budget <= n_tasks:
        return entry.on_budget(budget)
    return entry


def is_control(learner: LearnerSpec) -> bool:
    """Whether the learner is there to be compared with: it does not learn across tasks."""
    entry = LEARNERS.get(learner.name)
    return entry is not None and entry.kind == CONTROL


def growing_labels(results: Results) -> set[str]:
    """The labels of the learners that add resources with every task: strips mark them."""
    found = set()
    for learner in results.spec.learners:
        tables = results.headline(learner.label)
        n_tasks = max((len(table.tasks) for table in tables), default=0)
        entry = fact_sheet(learner, n_tasks)
        if entry is not None and entry.growing:
            found.add(learner.label)
    return found
