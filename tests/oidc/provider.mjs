// A real OpenID provider on loopback: node provider.mjs PORT JWKS REDIRECT_URI. Any name signs in; its claims are below.
import { readFileSync } from 'node:fs';
import Provider from 'oidc-provider';

const [port, jwks, redirect] = process.argv.slice(2);
const people = {
  anna: { email: 'anna@example.com', email_verified: true, groups: ['shop team', 'everyone'] },
  boss: { preferred_username: 'boss', groups: ['/mire-admins'] },
  fake: { email: 'root@example.com', email_verified: false, preferred_username: 'root@example.com', groups: [] },
  root: { preferred_username: 'root', groups: ['everyone'] },
};
const issuer = `http://127.0.0.1:${port}`;
const provider = new Provider(issuer, {
  clients: [
    {
      client_id: 'mire & co',
      id_token_signed_response_alg: process.env.ALG,
      client_secret: 'a secret: with / signs',
      redirect_uris: [redirect],
      post_logout_redirect_uris: [redirect.replace('oidc/callback', 'sign-in')],
    },
  ],
  jwks: JSON.parse(readFileSync(jwks, 'utf8')),
  cookies: { keys: ['of this test'] },
  claims: { openid: ['sub'], profile: ['preferred_username', 'groups'], email: ['email', 'email_verified'] },
  conformIdTokenClaims: process.env.GROUPS_BY_USERINFO === '1',
  pkce: { required: () => true },
  findAccount: (_context, id) => ({
    accountId: id,
    claims: () => ({ sub: `sub of ${id}`, ...people[id] }),
  }),
});
provider.on('server_error', (_context, error) => console.error(error));
provider.listen(Number(port), '127.0.0.1', () => console.log('ready'));
