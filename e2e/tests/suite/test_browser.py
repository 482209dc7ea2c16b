"""The suite's own browser: an answer that comes too late breaks nothing that follows."""

import pytest

from e2e.programs import browser
from e2e.programs.browser import opened_page

LATE = "new Promise((done) => setTimeout(() => done(true), 600))"


async def test_a_question_that_took_too_long_is_named_and_the_next_one_is_answered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with opened_page() as page:
        monkeypatch.setattr(browser, "DEADLINE", 0.2)
        with pytest.raises(TimeoutError, match="not true: new Promise"):
            await page.until(LATE)
        monkeypatch.setattr(browser, "DEADLINE", 10.0)
        assert await page.ask(LATE) is True
        assert await page.ask("1 + 1") == 2
