// A provider that breaks one rule at a time: node liar.mjs PORT. GET /be?what=RULE says which; the answer to a code is then so.
import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import { exportJWK, exportSPKI, generateKeyPair, SignJWT } from 'jose';

const port = Number(process.argv[2]), issuer = `http://127.0.0.1:${port}`;
const made = async (alg, kid, more = {}) => {
  const pair = await generateKeyPair(alg, { extractable: true, ...more });
  return { alg, kid, ...pair, jwk: { ...(await exportJWK(pair.publicKey)), kid, alg, use: 'sig' } };
};
const keys = {
  RS256: await made('RS256', 'rsa'), PS256: await made('PS256', 'pss'), ES256: await made('ES256', 'ec'), ES384: await made('ES384', 'ec384'),
  ES512: await made('ES512', 'ec521'), EdDSA: await made('EdDSA', 'ed', { crv: 'Ed25519' }),
};
const foreign = await made('RS256', 'rsa'), fresh = await made('RS256', 'fresh');
const decoy = { kty: 'oct', kid: 'oct', k: 'c2VjcmV0', alg: 'HS256' };
let what = 'good', nonce = '', asked = 0, forms = [];
const codes = new Map();
const now = () => Math.floor(Date.now() / 1000);
const part = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');

function claims() {
  const all = { iss: issuer, aud: 'mire', sub: 'liar', nonce, iat: now(), exp: now() + 300, email: 'liar@example.com' };
  const lies = {
    'other issuer': { iss: 'http://127.0.0.1:1' }, 'other client': { aud: 'another' }, 'two clients': { aud: ['mire', 'another'] },
    'party is another': { azp: 'another' }, 'two clients, ours': { aud: ['another', 'mire'], azp: 'mire' },
    'wrong nonce': { nonce: '0'.repeat(64) }, 'no nonce': { nonce: undefined }, 'no subject': { sub: undefined },
    'subject is a number': { sub: 7 }, 'long subject': { sub: 'x'.repeat(256) }, 'expired': { iat: now() - 900, exp: now() - 300 },
    'expired a minute ago': { iat: now() - 900, exp: now() - 60 }, 'a minute ahead': { iat: now() + 60, nbf: now() + 60, exp: now() + 300 },
    'an hour ahead': { iat: now() + 3600, exp: now() + 7200 }, 'not yet': { nbf: now() + 3600 }, 'no expiry': { exp: undefined },
    'no time': { iat: undefined }, 'expiry is text': { exp: '99999999999' },
  };
  return { ...all, ...lies[what] };
}

async function token() {
  const sign = (key, header = {}) => new SignJWT(claims()).setProtectedHeader({ alg: key.alg, kid: key.kid, ...header }).sign(key.privateKey);
  if (keys[what]) return sign(keys[what]);
  const good = await sign(keys.RS256), [head, body, end] = good.split('.');
  const mac = async (secret, header) => {
    const text = `${part(header)}.${body}`;
    return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
  };
  switch (what) {
    case 'none': return `${part({ alg: 'none' })}.${body}.`;
    case 'None': return `${part({ alg: 'None', kid: 'rsa' })}.${body}.${end}`;
    case 'no algorithm': return `${part({ kid: 'rsa' })}.${body}.${end}`;
    case 'no signature': return `${head}.${body}.`;
    case 'mac under the public key': return mac(await exportSPKI(keys.RS256.publicKey), { alg: 'HS256', kid: 'rsa' });
    case 'mac under a key of the set': return mac('secret', { alg: 'HS256', kid: 'oct' });
    case 'mac under the client secret': return mac('secret', { alg: 'HS256' });
    case 'key of another': return sign(foreign);
    case 'key in the header': return sign(foreign, { jwk: foreign.jwk, kid: 'unheard' });
    case 'algorithm of another key': return `${part({ alg: 'ES256', kid: 'rsa' })}.${body}.${end}`;
    case 'critical extension': return sign(keys.RS256, { crit: ['b64'], b64: true });
    case 'changed claims': return `${head}.${part({ ...claims(), sub: 'somebody else' })}.${end}`;
    case 'two parts': return `${head}.${body}`;
    case 'five parts': return `${good}.x.y`;
    case 'no token': return undefined;
    case 'rotated': return sign(fresh);
    default: return good;
  }
}

function configuration() {
  const c = { issuer, authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/token`, jwks_uri: `${issuer}/keys` };
  c.authorization_response_iss_parameter_supported = true;
  c.userinfo_endpoint = `${issuer}/me`;
  return c;
}

createServer(async (request, response) => {
  const url = new URL(request.url, issuer);
  const json = (value, status = 200) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(value));
  };
  let body = '';
  for await (const chunk of request) body += chunk;
  switch (url.pathname) {
    case '/be': what = url.searchParams.get('what'); return json({ asked, forms });
    case '/.well-known/openid-configuration': return json(configuration());
    case '/keys': {
      asked++;
      const set = [decoy, { kty: 'new', kid: 'rsa' }, 7, ...Object.values(keys).map((key) => key.jwk)];
      return json({ keys: what === 'rotated' ? [...set, fresh.jwk] : set });
    }
    case '/authorize': {
      nonce = url.searchParams.get('nonce');
      const code = `code${Math.random()}`, back = new URL(url.searchParams.get('redirect_uri'));
      codes.set(code, url.searchParams.get('code_challenge'));
      back.searchParams.set('code', code);
      back.searchParams.set('state', url.searchParams.get('state'));
      if (what === 'mix-up') back.searchParams.set('iss', 'http://127.0.0.1:1');
      else if (what !== 'no issuer') back.searchParams.set('iss', issuer);
      response.writeHead(302, { location: back.href });
      return response.end();
    }
    case '/token': {
      forms.push(Object.fromEntries(new URLSearchParams(body)));
      if (what === 'redirects') { response.writeHead(302, { location: `${issuer}/elsewhere` }); return response.end(); }
      if (what === 'fails') return json({ error: 'server_error' }, 500);
      if (what === 'refuses') return json({ error: 'invalid_grant' }, 400);
      if (what === 'is no json') return response.end('<html>');
      if (what === 'is huge') return response.end(`"${'x'.repeat(2 << 20)}"`);
      if (what === 'hangs') return undefined;
      return json({ access_token: 'access', token_type: 'Bearer', id_token: await token() });
    }
    case '/me': return json({ sub: what === 'tells of another' ? 'another' : 'liar', groups: ['of userinfo'] });
    default: return json({}, 404);
  }
}).listen(port, '127.0.0.1', () => console.log('ready'));
