"""The description of the interface."""

import json

import msgspec

from extender.rest.memory.samples import Samples
from extender.rest.openapi import ANSWERS, COMPARISON, EXPLANATION, QUERIES, SIMULATION, openapi_document
from extender.rest.routes.past import PATH
from extender.rest.routes.remembered import Memory, memory_routes
from extender.rest.routes.routes import IN_STEPS, PATHS


def test_every_route_is_described_and_no_other() -> None:
    remembered = memory_routes(Memory(Samples(started=0.0), lambda: None, lambda: None))
    assert set(ANSWERS) == {
        *PATHS,
        *IN_STEPS,
        *(each.pattern for each in remembered),
        EXPLANATION,
        COMPARISON,
        SIMULATION,
        PATH,
    }
    assert set(QUERIES) <= set(ANSWERS)


def test_the_document_is_whole() -> None:
    document = openapi_document("0.1.0")
    text = msgspec.json.encode(document).decode()
    for part in text.split('"$ref":"#/components/schemas/')[1:]:
        assert part.partition('"')[0] in document["components"]["schemas"]
    path = document["paths"]["/ws/v1/partition/{partition}/queue/{queue}"]["get"]
    assert [(each["name"], each["in"]) for each in path["parameters"]] == [
        ("partition", "path"),
        ("queue", "path"),
        ("subtree", "query"),
    ]
    queue = document["components"]["schemas"]["Queue"]
    assert {"queuename", "partition", "isLeaf"} <= set(queue["required"])
    assert "parent" not in queue["required"]
    assert "millicores" in json.dumps(queue["properties"]["allocatedResource"])
