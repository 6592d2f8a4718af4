"""Turns the real Azure Monitor portal export into a recording: `python -m emulator.convert`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from emulator.recordingfile import write
from emulator.traffic import DATA

EXPORT = DATA / "provisioned-deployment-24h.csv"
RECORDING = DATA / "provisioned-deployment-24h.recording.csv"
ACCOUNT = (
    "/subscriptions/00000000-0000-0000-0000-000000000001/resourcegroups/rg-recorded"
    "/providers/microsoft.cognitiveservices/accounts/recorded"
)
DEPLOYMENT = "recorded-ptu"
COLUMNS = {
    "Latency_avg_ms": "AzureOpenAITTLTInMS:average",
    "GeneratedTokens_sum": "GeneratedTokens:total",
    "ProcessedPromptTokens_sum": "ProcessedPromptTokens:total",
    "TokenTransaction_sum": "TokenTransaction:total",
    "ProvisionedManagedUtilizationV2_avg": "AzureOpenAIProvisionedManagedUtilizationV2:average",
}


def portal_export(path: Path, account: str = ACCOUNT, deployment: str = DEPLOYMENT) -> Any:
    """The export as a table that `recording.write` takes. What did not succeed counts as 500."""
    options = pyarrow.csv.ConvertOptions(column_types={"timestamp": pa.string()})
    export = pyarrow.csv.read_csv(path, convert_options=options)
    succeeded = export["SuccessfulCalls_sum"]
    return pa.table(
        {
            "time": export["timestamp"],
            "account": [account] * export.num_rows,
            "deployment": [deployment] * export.num_rows,
            "AzureOpenAIRequests:total[StatusCode=200]": succeeded,
            "AzureOpenAIRequests:total[StatusCode=500]": pc.subtract(
                export["TotalCalls_sum"], succeeded
            ),
            **{column: export[name] for name, column in COLUMNS.items()},
        }
    )


if __name__ == "__main__":
    write(portal_export(EXPORT), RECORDING)
