"""The authorization server that comes with the Python SDKs, as a server uses
it that signs its users in itself.  Everybody is let in.

"keep" in the mode: clients and tokens outlive a restart.  "brief": tokens end
after two seconds.
"""

import inspect
import os
import pickle
import secrets
import time

from mcp.server.auth.provider import (AccessToken, AuthorizationCode,
                                      OAuthAuthorizationServerProvider,
                                      RefreshToken, construct_redirect_uri)
from mcp.server.auth.settings import (AuthSettings,
                                      ClientRegistrationOptions,
                                      RevocationOptions)
from mcp.shared.auth import OAuthToken

SCOPES = ["user"]


def with_known(model, **fields):
    """Of the fields, those that this release has."""
    return model(**{k: v for k, v in fields.items()
                    if k in model.model_fields})


class Provider(OAuthAuthorizationServerProvider):
    def __init__(self, path, seconds):
        self.path = path
        self.seconds = seconds
        self.clients, self.codes, self.tokens, self.refreshers = {}, {}, {}, {}
        if path and os.path.exists(path):
            with open(path, "rb") as f:
                self.clients, self.tokens, self.refreshers = pickle.load(f)

    def keep(self):
        if self.path:
            with open(self.path + ".new", "wb") as f:
                pickle.dump((self.clients, self.tokens, self.refreshers), f)
            os.rename(self.path + ".new", self.path)

    async def get_client(self, client_id):
        return self.clients.get(client_id)

    async def register_client(self, client):
        self.clients[client.client_id] = client
        self.keep()

    async def authorize(self, client, params):
        code = secrets.token_hex(20)
        self.codes[code] = with_known(
            AuthorizationCode, code=code, client_id=client.client_id,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=
            params.redirect_uri_provided_explicitly,
            expires_at=time.time() + 300, scopes=params.scopes or [],
            code_challenge=params.code_challenge,
            resource=getattr(params, "resource", None))
        return construct_redirect_uri(str(params.redirect_uri), code=code,
                                      state=params.state)

    async def load_authorization_code(self, client, code):
        return self.codes.get(code)

    async def exchange_authorization_code(self, client, code):
        self.codes.pop(code.code, None)
        return self.issue(client, code.scopes,
                          getattr(code, "resource", None))

    def issue(self, client, scopes, resource):
        token, refresher = secrets.token_hex(20), secrets.token_hex(20)
        self.tokens[token] = with_known(
            AccessToken, token=token, client_id=client.client_id,
            scopes=scopes, expires_at=int(time.time()) + self.seconds,
            resource=resource)
        self.refreshers[refresher] = RefreshToken(
            token=refresher, client_id=client.client_id, scopes=scopes)
        self.keep()
        return OAuthToken(access_token=token, expires_in=self.seconds,
                          scope=" ".join(scopes), refresh_token=refresher)

    async def load_refresh_token(self, client, token):
        return self.refreshers.get(token)

    async def exchange_refresh_token(self, client, token, scopes):
        self.refreshers.pop(token.token, None)
        return self.issue(client, scopes or token.scopes, None)

    async def load_access_token(self, token):
        found = self.tokens.get(token)
        if found and found.expires_at > time.time():
            return found
        return None

    async def verify_token(self, token):
        return await self.load_access_token(token)

    async def revoke_token(self, token):
        self.tokens.pop(token.token, None)
        self.refreshers.pop(token.token, None)
        self.keep()


def settings(public, folder, mode, fastmcp):
    """What the server is made with."""
    seconds = 2 if "brief" in mode else 3600
    path = os.path.join(folder, "accounts") if "keep" in mode else None
    registration = ClientRegistrationOptions(
        enabled=True, valid_scopes=SCOPES, default_scopes=SCOPES)
    if fastmcp:
        return {"auth": of_fastmcp(public, path, seconds, registration)}
    provider = Provider(path, seconds)
    auth = with_known(
        AuthSettings, issuer_url=public, resource_server_url=public + "/mcp",
        client_registration_options=registration,
        revocation_options=RevocationOptions(enabled=True),
        required_scopes=SCOPES)
    return {"auth": auth, "auth_server_provider": provider}


def of_fastmcp(public, path, seconds, registration):
    """The provider that fastmcp has for tests, on disk."""
    from fastmcp.server.auth.providers import in_memory
    in_memory.DEFAULT_ACCESS_TOKEN_EXPIRY_SECONDS = seconds
    kept = ("clients", "access_tokens", "refresh_tokens",
            "_access_to_refresh_map", "_refresh_to_access_map")

    class Kept(in_memory.InMemoryOAuthProvider):
        def load(self):
            if path and os.path.exists(path):
                with open(path, "rb") as f:
                    vars(self).update(pickle.load(f))

        def keep(self):
            if path:
                with open(path + ".new", "wb") as f:
                    pickle.dump({k: vars(self)[k] for k in kept}, f)
                os.rename(path + ".new", path)

        async def register_client(self, client):
            await super().register_client(client)
            self.keep()

        async def exchange_authorization_code(self, *args):
            token = await super().exchange_authorization_code(*args)
            self.keep()
            return token

        async def exchange_refresh_token(self, *args):
            token = await super().exchange_refresh_token(*args)
            self.keep()
            return token
    fields = dict(client_registration_options=registration,
                  required_scopes=SCOPES)
    known = inspect.signature(Kept.__init__).parameters
    fields["base_url" if "base_url" in known else "issuer_url"] = public
    provider = Kept(**fields)
    provider.load()
    return provider
