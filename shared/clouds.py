"""The clouds: who answers where, for whom a token is asked, and where links lead.

Source: Microsoft's tables of endpoints for Azure Government and Azure operated by 21Vianet, and the
SDKs' own documentation of `audience` and `endpoint`.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Cloud:
    """One cloud; addresses without a slash at their end, host suffixes with a dot before them."""

    name: str
    metrics_endpoint: str
    """With a place for the region."""
    metrics_audience: str
    logs_endpoint: str
    resource_manager: str
    authority: str
    """Host that signs in."""
    storage_suffix: str
    storage_audience: str
    portal: str
    foundry: str
    """Empty where there is none."""
    webhook_hosts: tuple[str, ...]


PUBLIC = Cloud(
    name="public",
    metrics_endpoint="https://{region}.metrics.monitor.azure.com",
    metrics_audience="https://metrics.monitor.azure.com",
    logs_endpoint="https://api.loganalytics.azure.com",
    resource_manager="https://management.azure.com",
    authority="login.microsoftonline.com",
    storage_suffix=".table.core.windows.net",
    storage_audience="https://storage.azure.com",
    portal="https://portal.azure.com",
    foundry="https://ai.azure.com",
    webhook_hosts=(".logic.azure.com", ".api.powerplatform.com"),
)
US_GOVERNMENT = Cloud(
    name="usgovernment",
    metrics_endpoint="https://{region}.metrics.monitor.azure.us",
    metrics_audience="https://metrics.monitor.azure.us",
    logs_endpoint="https://api.loganalytics.us",
    resource_manager="https://management.usgovcloudapi.net",
    authority="login.microsoftonline.us",
    storage_suffix=".table.core.usgovcloudapi.net",
    storage_audience="https://storage.azure.us",
    portal="https://portal.azure.us",
    foundry="",
    webhook_hosts=(
        ".logic.azure.us",
        ".api.gov.powerplatform.microsoft.us",
        ".api.high.powerplatform.microsoft.us",
        ".api.appsplatform.us",
    ),
)
CHINA = Cloud(
    name="china",
    metrics_endpoint="https://{region}.metrics.monitor.azure.cn",
    metrics_audience="https://metrics.monitor.azure.cn",
    logs_endpoint="https://api.loganalytics.azure.cn",
    resource_manager="https://management.chinacloudapi.cn",
    authority="login.chinacloudapi.cn",
    storage_suffix=".table.core.chinacloudapi.cn",
    storage_audience="https://storage.azure.cn",
    portal="https://portal.azure.cn",
    foundry="",
    webhook_hosts=(".logic.azure.cn", ".api.powerplatform.partner.microsoftonline.cn"),
)
CLOUDS = {cloud.name: cloud for cloud in (PUBLIC, US_GOVERNMENT, CHINA)}
