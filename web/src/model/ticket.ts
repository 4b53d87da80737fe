/* The address of a tracker's form for a new ticket. */

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
