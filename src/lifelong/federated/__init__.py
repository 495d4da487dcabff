"""Sites that may not share rows exchange encoders, in a file format that cannot run code.

One module, one idea, from the bottom up:

``messages``
    What travels: a :class:`~lifelong.federated.messages.Request` to a site, its
    :class:`~lifelong.federated.messages.Reply`. Nothing else does.
``site``
    :class:`Site`: a saved learner that gives its own encoders and takes those of others.
``hub``
    :class:`Hub`: who has sent what, who still lacks what, and why something was refused. It learns
    nothing.
``records``, ``server``, ``client``
    The same over Flower: messages as its records, and the apps that ``flwr run`` starts. They need
    ``pip install 'lifelong[federated]'``; the modules above do not.
"""

from lifelong.federated.hub import Hub
from lifelong.federated.messages import Reply, Request
from lifelong.federated.site import Site

__all__ = ["Hub", "Reply", "Request", "Site"]
