"""Which encoder goes when there are more than the budget allows."""

from collections.abc import Iterable
from typing import Any

from lifelong.exceptions import ParameterError
from lifelong.tasks.base import TaskName


def least_useful(channels: Iterable[Any]) -> TaskName:
    """The encoder that tells least about the labels of all tasks together; of several, the newest.

    What it tells about a task is its influence times what that task's (ridge) channel knows at all.
    """
    told: dict[TaskName, float] = {}
    for channel in channels:
        for encoder, share in channel.readout.influence.items():
            told[encoder] = told.get(encoder, 0.0) + share * channel.readout.skill
    return min(reversed(told), key=lambda encoder: told[encoder])


def check_keep(keep: str, channel: Any) -> None:
    """Only a channel that knows what each encoder is worth can choose among them."""
    if keep == "useful" and not hasattr(type(channel), "readout"):
        raise ParameterError(
            f"keep='useful' asks each channel how much every encoder says, and {type(channel).__name__} cannot tell. "
            "Use channel='ridge'.",
            see="channels",
        )
