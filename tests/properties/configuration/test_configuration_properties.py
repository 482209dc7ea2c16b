"""F-4 as a property: whatever happens to the ConfigMaps, only a document lifts a limit."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from extender.configuration.reload import LiveConfiguration, Source
from extender.configuration.sources import ConfigMapData
from tests.extender.configuration.test_reload import document
from tests.extender.rigs import Rig

SOURCE = Source("ConfigMap", "paddock-system", "yunikorn-configs")
NO_LIMITS = "partitions: [{name: default, queues: [{name: root, queues: [{name: a}]}]}]"
TTL = "paddock.reservation.ttl"
NOTHING: tuple[dict[str, str] | None, ...] = (
    None,
    {},
    {TTL: "7s"},
    {"queues.yaml": ""},
    {"queues.yaml": "# queues:\n"},
    {"batch.yaml": NO_LIMITS},
)
"""Maps that have no document."""

contents = st.sampled_from(
    [
        *NOTHING,
        *NOTHING,
        {"queues.yaml": "partitions: ["},
        {"queues.yaml": NO_LIMITS},
        *({"queues.yaml": document(cores)} for cores in "1234"),
        {"queues.yaml": document("5"), TTL: "9s"},
    ]
)
histories = st.lists(st.tuples(contents, contents), min_size=1, max_size=12)


def cores_of(text: str) -> int | None:
    return None if text == NO_LIMITS else int(text.partition("vcore: ")[2][0])


def in_force(rig: Rig) -> int | None:
    queue = rig.engine.view.tree.get("root.a")
    return dict(queue.max.items())["vcore"] // 1000 if queue is not None and queue.max else None


@settings(deadline=None, derandomize=True, max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(history=histories)
def test_what_is_in_force_is_the_last_document_that_won(
    history: list[tuple[dict[str, str] | None, dict[str, str] | None]],
) -> None:
    rig = Rig()
    configuration = LiveConfiguration(
        rig.engine, overrides={}, on_refused=lambda *_: None, on_applied=lambda *_: None
    )
    wins: list[str | None] = [None, None]
    blank = False
    applied: str | None = None
    for maps in history:
        offered = [None if each is None else ConfigMapData(each) for each in maps]
        configuration.prepare(*offered)
        configuration.offer_config_maps(*offered, SOURCE)
        texts = [None if each in NOTHING else each["queues.yaml"] for each in maps]  # type: ignore[index]
        if applied is None:
            wins = texts
        else:
            wins = [text if text is not None else before for text, before in zip(texts, wins, strict=True)]
        # A blank entry of the second map hides that of the first (SRC-3), unless it had a document before.
        # The entry is retained with the other contents of a deleted or emptied map.
        if maps[1] or applied is None:
            blank = bool(maps[1]) and (maps[1] or {}).get("queues.yaml") is not None and texts[1] is None
        winner = wins[1] if wins[1] is not None or blank else wins[0]
        if winner is not None and winner != "partitions: [":
            applied = winner
        if applied is not None:
            assert in_force(rig) == cores_of(applied)
            lost = any(text is None and before is not None for text, before in zip(texts, wins, strict=True))
            assert bool(configuration.missing) >= lost
        else:
            assert configuration.reloads == 0
