"""A ClientApp that does what ours does, and then something to the reply, if the node's
configuration says so.
"""

from flwr.app import ArrayRecord, ConfigRecord, Message, RecordDict
from flwr.clientapp import ClientApp

from lifelong.federated.client import exchange
from lifelong.federated.messages import Reply
from lifelong.federated.records import reply_to_records

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
    return reply
