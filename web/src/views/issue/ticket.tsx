/* The ticket of an issue: a link to it, a button that makes it in the app's tracker, or one that opens the tracker's form. */

import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { api, ProblemError } from '../../api/client';
import type { Ticket } from '../../api/types';
import { say } from '../../lib/i18n';
import { client } from '../../lib/query';
import { ticketAddress, ticketOf } from '../../model/ticket';
import { announce } from '../parts';
import { useMayTriage } from '../triage/buttons';

const LOOK_MS = 2_000; // between two looks at a ticket that waits to be made

export function IssueTicket(props: {
  app: string;
  id: string;
  ticket: Ticket | null;
  tracker: string;
  form: string;
  text: () => Promise<string | null>;
}): JSX.Element | null {
  const { app, id, ticket, tracker, form, text } = props;
  const allowed = useMayTriage(app);
  const waits = ticket?.state === 'waiting';
  useEffect(() => {
    if (!waits) return undefined;
    const timer = setInterval(() => void client.invalidateQueries({ queryKey: ['issue', app, id] }), LOOK_MS);
    return () => clearInterval(timer);
  }, [waits, app, id]);
  if (ticket && ticket.state !== 'failed') return <Known ticket={ticket} />;
  if (tracker !== '' && allowed)
    return (
      <>
        {ticket ? <span class="bad-text small">{say('No ticket was made: {why}', { why: ticket.fault })}</span> : null}
        <button type="button" onClick={() => void make(app, id, text())}>
          {say('New ticket')}
        </button>
      </>
    );
  if (form === '') return null;
  return (
    <button type="button" onClick={() => void openForm(form, id, text())}>
      {say('New ticket')}
    </button>
  );
}

function Known({ ticket }: { ticket: Ticket }): JSX.Element {
  if (ticket.state === 'waiting')
    return (
      <span class="dim small" role="status">
        {ticket.fault === ''
          ? say('The ticket is being made')
          : say('The ticket is tried again: {why}', { why: ticket.fault })}
      </span>
    );
  return (
    <a href={ticket.url} target="_blank" rel="noreferrer">
      {say('Ticket {name}', { name: ticket.name })}
      {ticket.state === 'closed' ? ` (${say('closed')})` : ''}
    </a>
  );
}

async function make(app: string, id: string, text: Promise<string | null>): Promise<void> {
  const markdown = await text;
  if (markdown === null) return;
  const { title, body } = ticketOf(markdown, location.href);
  try {
    await api.makeTicket(app, id, { title, body });
    announce(say('The ticket is being made'));
  } catch (error) {
    announce(error instanceof ProblemError ? error.detail || error.title : say('The server could not be reached'));
  }
  await client.invalidateQueries({ queryKey: ['issue', app, id] });
}

/* Open the tracker's form with the same text. The window is opened at once: a browser allows it to a click only. */
async function openForm(template: string, id: string, text: Promise<string | null>): Promise<void> {
  const form = open('about:blank', '_blank');
  const markdown = await text;
  const ticket = { ...ticketOf(markdown ?? '', location.href), link: location.href, issue: id };
  const address = markdown === null ? null : ticketAddress(template, ticket);
  if (!form) announce(say('The browser blocks new windows'));
  else if (address === null) form.close();
  else {
    form.opener = null;
    form.location.href = address;
  }
}
