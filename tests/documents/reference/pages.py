"""Every page that is written from the code, with its writer."""

from collections.abc import Callable, Mapping

from tests.documents.reference.accounts import accounts_page
from tests.documents.reference.commands.paddock import commands_page
from tests.documents.reference.commands.plugin import plugin_page
from tests.documents.reference.events import events_page
from tests.documents.reference.metrics import metrics_page
from tests.documents.reference.names import names_page
from tests.documents.reference.reason_codes import reason_codes_page
from tests.documents.reference.rest_interface import rest_page
from tests.documents.reference.scenario_format import scenario_page
from tests.documents.reference.schema import schema_text
from tests.documents.reference.settings import settings_page
from tests.interfaces.product import ROOT

FOLDER = ROOT / "docs" / "reference"

PAGES: Mapping[str, Callable[[], str]] = {
    "accounts.md": accounts_page,
    "command-line.md": commands_page,
    "events.md": events_page,
    "kubectl-paddock.md": plugin_page,
    "metrics.md": metrics_page,
    "names.md": names_page,
    "reason-codes.md": reason_codes_page,
    "rest.md": rest_page,
    "scenario-format.md": scenario_page,
    "scenario.schema.json": schema_text,
    "settings.md": settings_page,
}
