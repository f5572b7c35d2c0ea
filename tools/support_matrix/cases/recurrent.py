"""LSTM, GRU and RNN."""
from probe import case

GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
WAYS = {"direction": ["forward", "reverse", "bidirectional"],
        "layout": lambda s: [0, 1] if "layout" in s.attributes else []}


@case("LSTM", "GRU", "RNN", by=WAYS)
def recurrent(p):
    gates = GATES[p.schema.name]
    ways = 2 if p.by["direction"] == "bidirectional" else 1
    steps, batch, width, hidden = p.size(2, 3), p.size(1, 2), p.size(2, 4), p.size(2, 4)
    p.input(*((batch, steps, width) if p.by.get("layout") else (steps, batch, width)))
    p.constant(ways, gates * hidden, width)
    p.constant(ways, gates * hidden, hidden)
    p.constant(ways, 2 * gates * hidden) if p.pick(True, False) else p.skip()
    p.skip()
    if p.pick(True, False):
        p.constant(*((batch, ways, hidden) if p.by.get("layout") else (ways, batch, hidden)))
    p.attr(hidden_size=hidden, direction=p.by["direction"], layout=p.by.get("layout"))
    p.output_count(2)
    if p.by["direction"] != "forward":
        p.unchecked()
