"""A ClientApp that does what ours does, and then something to the reply, if the node's
configuration says so.
"""

import time

from flwr.app import ArrayRecord, ConfigRecord, Message, RecordDict
from flwr.clientapp import ClientApp

from lifelong.federated.client import exchange, site_from
from lifelong.federated.messages import Reply, Request
from lifelong.federated.records import reply_to_records, request_from_records

app = ClientApp()


@app.train()
def answer(message, context):
    """Reply as the node's configuration says."""
    hostile, reply = context.node_config.get("hostile"), exchange(message, context)
    if hostile == "garbage":
        return Message(
            reply_to_records(Reply("eve", {"eve/digits": b"garbage " * 100})), reply_to=message
        )
    if hostile == "crash":
        raise RuntimeError("crash")
    if hostile == "old":
        return Message(RecordDict({"exchange": ConfigRecord({"protocol": 0})}), reply_to=message)
    if hostile == "numbers":
        return Message(RecordDict({"encoders": ArrayRecord([])}), reply_to=message)
    if hostile == "replay":  # its own encoder again, under a new name in every round
        own = site_from(context).answer(Request())
        content = next(iter(own.encoders.values()))
        return Message(
            reply_to_records(Reply("eve", {f"eve/{time.time_ns()}": content})), reply_to=message
        )
    if hostile == "flood":
        many = {f"eve/{number}": b"rubbish" for number in range(5000)}
        return Message(reply_to_records(Reply("eve", many)), reply_to=message)
    if hostile == "lie":
        everything = request_from_records(message.content).known
        lies = dict.fromkeys(everything, "it is bad")
        return Message(reply_to_records(Reply("eve", {}, everything, lies)), reply_to=message)
    return reply
