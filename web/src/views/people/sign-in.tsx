/* Signing in, and setting a password by a one-time link. */

import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { api, ProblemError } from '../../api/client';
import { say } from '../../lib/i18n';
import { go, page } from '../../lib/location';
import { useTitle } from '../../lib/title';
import { changed, useSignIn } from '../../lib/who';
import { Field, Form, useAttempt } from './forms';

/* Where to go on: a path of this site, as /-/sign-in?next= has it. */
function next(): string {
  const wanted = new URLSearchParams(location.search).get('next') ?? '/';
  return /^\/(?![/\\])/.test(wanted) ? wanted : '/';
}

async function enter(): Promise<void> {
  await changed();
  if (page.value.name !== 'sign-in' && page.value.name !== 'welcome') return;
  const to = next();
  if (/^\/[ir]\//.test(to)) location.assign(to);
  else go(to, true);
}

/* Why a sign-in by the provider failed, as /-/sign-in?failed= has it. */
function failure(): string {
  const provider = useSignIn()?.provider ?? say('the provider');
  const texts: Record<string, string> = {
    unreachable: say('{provider} does not answer. Try again; an admin finds the reason in the log of mired.', {
      provider,
    }),
    busy: say('Too many people are signing in. Try again in a few seconds.'),
    stale: say('That sign-in took more than ten minutes, or began in another browser. Start again.'),
    refused: say('{provider} refused the sign-in. Try again, or ask an admin.', { provider }),
    untrusted: say(
      'The answer of {provider} was not valid, and nobody was signed in. An admin finds the reason in the log of mired.',
      { provider },
    ),
    disabled: say('This account is disabled. Ask an admin.'),
    insecure: say('This page was loaded over plain HTTP. Open it by https.'),
  };
  return texts[new URLSearchParams(location.search).get('failed') ?? ''] ?? '';
}

function Provider({ name }: { name: string }): JSX.Element {
  return (
    <p>
      <a class="button wide" href={`/-/oidc/start?next=${encodeURIComponent(next())}`}>
        {say('Sign in with {provider}', { provider: name })}
      </a>
    </p>
  );
}

function Plain(): JSX.Element {
  return (
    <div class="notice bad" role="alert">
      {say('This page was loaded over plain HTTP, which shows a password to others. Open it by https.')}
    </div>
  );
}

/* `before`: the name that was signed in until now, where the page was open when the sign-in ended. */
export function SignInPage({ before }: { before: string }): JSX.Element {
  useTitle(say('Sign in'));
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const run = useAttempt();
  const known = useSignIn();
  const failed = failure();
  return (
    <section class="door" aria-label={say('Sign in')}>
      <h1>{say('Sign in')}</h1>
      {known?.who ? (
        <p>
          {say('You are {name}.', { name: known.who.name })} <a href="/">{say('All apps')}</a>
        </p>
      ) : known && !known.may_sign_in ? (
        <Plain />
      ) : (
        <>
          {failed === '' ? null : (
            <div class="notice bad" role="alert">
              {failed}
            </div>
          )}
          {before === '' ? null : (
            <div class="notice" role="alert">
              {say('You are no longer signed in as {name}. Sign in to continue.', { name: before })}
            </div>
          )}
          {known?.provider ? (
            <>
              <Provider name={known.provider} />
              <h2>{say('Or with a password of this server')}</h2>
            </>
          ) : null}
          <Form
            run={run}
            submit={say('Sign in')}
            done={async () => {
              await api.signIn(name.trim(), password);
              await enter();
            }}
          >
            <Field label={say('Name or e-mail')} value={name} set={setName} autocomplete="username" />
            <Field
              label={say('Password')}
              value={password}
              set={setPassword}
              type="password"
              autocomplete="current-password"
            />
          </Form>
          <p class="dim small">{say('Forgot it? Ask an admin for a link to set a new one.')}</p>
        </>
      )}
    </section>
  );
}

type Seen = 'asks' | 'gone' | { name: string };

export function WelcomePage(): JSX.Element {
  useTitle(say('Welcome'));
  const [link] = useState(() => location.hash.slice(1));
  const [seen, setSeen] = useState<Seen>('asks');
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const [again, setAgain] = useState('');
  const run = useAttempt();
  useEffect(() => {
    history.replaceState(null, '', location.pathname); // the link is a secret: it leaves the address bar
    api.useLink(link).then(setSeen, (error: unknown) => {
      if (error instanceof ProblemError && error.status === 404) setSeen('gone');
      else void run.attempt(() => Promise.reject(error));
    });
  }, []);
  return (
    <section class="door" aria-label={say('Welcome')}>
      <h1>{say('Welcome to Mire')}</h1>
      {seen === 'gone' ? (
        <div class="notice bad" role="alert">
          {say(
            'This link was used or has expired. Ask an admin for a new one, or run mire user link NAME on the server.',
          )}
        </div>
      ) : seen === 'asks' ? (
        <p class="bad-text" role="alert">
          {run.fault}
        </p>
      ) : (
        <Form
          run={run}
          submit={say('Set the password and sign in')}
          done={async () => {
            if (password !== again) throw new ProblemError(0, say('The two passwords differ.'), '', '');
            await api.useLink(link, { password, ...(seen.name === '' ? { name: name.trim() } : {}) });
            await enter();
          }}
        >
          {seen.name === '' ? (
            <Field
              label={say('Your name or e-mail')}
              value={name}
              set={setName}
              autocomplete="username"
              note={say('You become the first admin of this server.')}
            />
          ) : (
            <p>
              {say('Your name is')} <strong>{seen.name}</strong>.
            </p>
          )}
          <Field
            label={say('Password')}
            value={password}
            set={setPassword}
            type="password"
            autocomplete="new-password"
            note={say('At least 10 characters.')}
          />
          <Field
            label={say('Password again')}
            value={again}
            set={setAgain}
            type="password"
            autocomplete="new-password"
          />
        </Form>
      )}
    </section>
  );
}
