"""Checks of the sign-in by a provider of OpenID Connect, where the settings name one: the provider itself is asked."""

import os
import stat
from pathlib import Path

from quaestor.errors import QuaestorError
from quaestor.web.checkup.finding import Finding, fine, wrong
from quaestor.web.security.openid import AwayError, provider_of
from quaestor.web.settings import Settings

HOW = "docs/how-to/sign-in-with-the-school-login.md shows all settings."


def openid(settings: Settings) -> list[Finding]:
    """Whether teachers can sign in by the provider of the settings; nothing where there is none."""
    try:
        provider = provider_of(settings)
    except QuaestorError as error:
        return wrong("openid", f"The provider cannot be used as the settings say: {error}.", HOW)
    if provider is None:
        return []
    if not settings.address:
        words = "Teachers shall sign in by a provider (--openid), but nothing says where it sends them back to."
        return wrong("openid", words, "Set --address to what people type, e.g. https://tests.school.example")
    file = settings.openid_secret_file
    if file and os.name == "posix" and Path(file).stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        return wrong("openid", f"Others than the user of the server can read the secret in {file}.", f"chmod 600 {file}")
    try:
        provider.look()
    except AwayError as error:
        return wrong("openid", f"The provider {settings.openid} cannot be asked: {error.why}.", f"Mend --openid or the provider; {HOW}")
    return fine("openid", f"Teachers can sign in by {provider.name}: {settings.openid} answers.")
