/* The text of a new ticket, and the address of a tracker's form for it. */

export interface Ticket {
  title: string;
  body: string;
  /** Of the issue's page. */
  link: string;
  issue: string;
}

/* Servers refuse longer addresses. */
const MOST = 7_500;

function filled(template: string, ticket: Ticket): string {
  return template.replace(/\{(title|body|link|issue)\}/g, (_, name: keyof Ticket) => encodeURIComponent(ticket[name]));
}

/* The body is cut, and ends with the link, where the address would be too long. Null: the template is no address. */
export function ticketAddress(template: string, ticket: Ticket): string | null {
  if (!/^https?:\/\//.test(template)) return null;
  const letters = Array.from(ticket.body);
  let address = filled(template, ticket);
  let kept = letters.length;
  while (address.length > MOST && kept > 0) {
    kept = Math.floor(kept * 0.9);
    address = filled(template, { ...ticket, body: `${letters.slice(0, kept).join('')}\n…\n${ticket.link}` });
  }
  return address;
}

/* What a tracker takes. */
const TITLE = 200;
const BODY = 30_000;

/* Title and text of a ticket from the Markdown of an issue, whose first line is the title. Cut, it ends with the link. */
export function ticketOf(markdown: string, link: string): { title: string; body: string } {
  const [first = '', ...rest] = markdown.split('\n');
  const title = Array.from(first.replace(/^#\s*/, '').replaceAll('`', '')).slice(0, TITLE).join('');
  const letters = Array.from(rest.join('\n').trim());
  const body =
    letters.length <= BODY ? letters.join('') : `${letters.slice(0, BODY - link.length - 3).join('')}\n…\n${link}`;
  return { title, body };
}
