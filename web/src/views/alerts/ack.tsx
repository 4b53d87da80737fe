/* Where the link of a message leads: one alert, and the button that acknowledges it. No sign-in is needed. */

import '../../style/alerts.css';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { api } from '../../api/client';
import type { Alert } from '../../api/types';
import { say } from '../../lib/i18n';
import { useQuery } from '../../lib/query';
import { useTitle } from '../../lib/title';
import { Loaded } from '../parts';
import { useAttempt } from '../people/forms';
import { Found } from './alerts';

export function AckPage(): JSX.Element {
  useTitle(say('Acknowledge an alert'));
  const [token] = useState(() => location.hash.slice(1));
  const [done, setDone] = useState<Alert | null>(null);
  const result = useQuery(['ack', token], () => api.ackByLink(token, false));
  const run = useAttempt();
  return (
    <section class="door" aria-label={say('Acknowledge an alert')}>
      <h1>{say('Acknowledge an alert')}</h1>
      <Loaded result={result} rows={4} label={say('alerts')}>
        {(data) => {
          const alert = done ?? data.alert;
          return (
            <>
              <Found alert={alert} />
              {alert.acked_at !== null ? (
                <p role="status">{say('Acknowledged: it is not repeated.')}</p>
              ) : (
                <button
                  type="button"
                  class="primary"
                  onClick={() =>
                    void run.attempt(async () => {
                      setDone((await api.ackByLink(token, true)).alert);
                    })
                  }
                >
                  {say('Acknowledge')}
                </button>
              )}
              <p>
                <a href={alert.page}>{say('Open the page')}</a>
              </p>
            </>
          );
        }}
      </Loaded>
      <p role="alert" class="bad-text">
        {run.fault}
      </p>
    </section>
  );
}
